import { setTimeout as after } from 'node:timers/promises';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { forPrograms, refuse } from '../api/problem-document.ts';
import { asPage, Layout, showPage } from '../components/layout.tsx';
import { Sentence } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';

/** The page of a problem waits so long for the notices, and is then sent without them. */
const RECORDS_TIMEOUT_MS = 1_000;

const codes: Record<number, string> = {
  411: 'LENGTH_REQUIRED',
  413: 'TOO_LARGE',
  500: 'INTERNAL',
  503: 'REDIS_UNREACHABLE',
  504: 'TIMEOUT',
};

/** Says why a request failed: one sentence, on a page with the menu and the notices, or as JSON for programs. */
export async function sendProblem(
  c: Exchange,
  context: DashboardContext,
  status: number,
  message: string,
): Promise<Response> {
  const code = status as ContentfulStatusCode;
  if (forPrograms.test(c.req.path)) return refuse(c, code, codes[status] ?? 'PROBLEM', message);
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
  const principal = c.get('principal');
  const bare = () => asPage(c, <Layout title={title} principal={principal} children={content} />, code);
  if (!principal) return bare();
  // What failed may make the notices fail or wait too. The sentence must be shown in any case.
  return Promise.race([
    showPage(c, context, { title, status: code }, content).catch(() => bare()),
    after(RECORDS_TIMEOUT_MS, undefined, { ref: false }).then(() => bare()),
  ]);
}
