import { setTimeout as after } from 'node:timers/promises';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { isSignedIn } from '../auth/cookie.ts';
import { Sentence } from '../components/components.tsx';
import { asPage, Layout, showPage } from '../components/layout.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';

/** Addresses for programs; all others are pages for people. */
const forPrograms = /^\/(api|metrics|healthz|readyz|events)(\/|$)/;

/** The page of a problem waits so long for the notices, and is then sent without them. */
const RECORDS_TIMEOUT_MS = 1_000;

/** Says why a request failed: one sentence, on a page with the menu and the notices, or as JSON for programs. */
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
  // What failed may make the notices fail or wait too. The sentence must be shown in any case.
  return Promise.race([
    showPage(c, context, { title, status: code }, content).catch(() => bare(true)),
    after(RECORDS_TIMEOUT_MS, undefined, { ref: false }).then(() => bare(true)),
  ]);
}
