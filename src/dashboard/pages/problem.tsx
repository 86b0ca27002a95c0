import { setTimeout as after } from 'node:timers/promises';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { isSignedIn } from '../auth/cookie.ts';
import { Sentence } from '../components/components.tsx';
import { asPage, Layout, showPage } from '../components/layout.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';

/** Addresses that programs read; all others are looked at by people. */
const forPrograms = /^\/(api|metrics|healthz|readyz|events)(\/|$)/;

/** A problem does not wait longer than that for what else is to be said. */
const RECORDS_TIMEOUT_MS = 1_000;

/**
 * What was asked for cannot be had: one sentence, as a page with the menu and what stands in the way, or as
 * JSON.
 */
export async function sendProblem(
  c: Exchange,
  context: DashboardContext,
  status: number,
  message: string,
): Promise<Response> {
  const code = status as ContentfulStatusCode;
  if (forPrograms.test(c.req.path)) return c.json({ error: { code: 'problem', message } }, code);
  const content = (
    <section class="narrow">
      <h1>
        <Sentence text={message} />
      </h1>
      <p>
        <a href="/">Back to the overview</a>
      </p>
    </section>
  );
  const title = 'Not possible';
  const bare = (signedIn: boolean) =>
    asPage(c, <Layout title={title} signedIn={signedIn} children={content} />, code);
  if (!isSignedIn(c, context)) return bare(false);
  // Whatever failed may fail or hold up the banner too, and then the sentence matters more.
  return Promise.race([
    showPage(c, context, { title, status: code }, content).catch(() => bare(true)),
    after(RECORDS_TIMEOUT_MS, undefined, { ref: false }).then(() => bare(true)),
  ]);
}
