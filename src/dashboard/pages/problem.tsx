import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Env } from '../http/parts.ts';
import { asPage, Layout } from './layout.tsx';

/** What was asked for cannot be shown: one sentence, as a page or as JSON. */
export function sendProblem(c: Context<Env>, status: number, message: string): Response | Promise<Response> {
  const code = status as ContentfulStatusCode;
  if (!c.req.header('accept')?.includes('text/html'))
    return c.json({ error: { code: 'problem', message } }, code);
  return asPage(
    c,
    <Layout title="Not possible">
      <section class="narrow">
        <h1>{message}</h1>
        <p>
          <a href="/">Back to the overview</a>
        </p>
      </section>
    </Layout>,
    code,
  );
}
