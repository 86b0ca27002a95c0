/** What came of an act on several policies or runs. */
import { showPage } from '../components/layout.tsx';
import { number } from '../components/progress.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { redirectWith } from '../http/toast.ts';

interface BulkResult {
  /** `3 runs cancelled`. */
  text: string;
  /** What it was not done to, and why not. */
  failures: readonly { name: string; path: string; isId?: boolean; why: string }[];
  /** The list where the others are now. */
  after: { path: string; word: string };
  /** The list where they were selected, and its entry in the sidebar. */
  back: string;
  here: string;
}

/** Leads back to the list with a line that says what was done; or shows what was not done, and why. */
export function sendResult(
  c: Exchange,
  context: DashboardContext,
  { text, failures, after, back, here }: BulkResult,
): Response | Promise<Response> {
  if (failures.length === 0)
    return redirectWith(c, context, back, {
      text: `${text}.`,
      link: { path: after.path, word: 'Show them' },
    });
  return showPage(
    c,
    context,
    { title: text, here },
    <section class="narrow card">
      <h1>
        {text}, {number(failures.length)} not
      </h1>
      <ul>
        {failures.map(({ name, path, isId, why }) => (
          <li>
            <a href={path} {...(isId ? { class: 'id' } : {})}>
              {name}
            </a>
            : {why}
          </li>
        ))}
      </ul>
      <p class="actions">
        <a class="action" href={after.path}>
          {after.word}
        </a>
        <a class="action" href={back}>
          Back to the list
        </a>
      </p>
    </section>,
  );
}
