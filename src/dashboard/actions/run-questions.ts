/** What a person is told before runs are retried or cancelled: how much, its price, what cannot be undone. */
import { endedCount } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import { countOf } from '../../text.ts';
import { number } from '../components/progress.tsx';
import type { DashboardContext } from '../http/context.ts';

export async function retryText(context: DashboardContext, runs: readonly Run[]): Promise<string> {
  const failed = sum(runs.map(({ counts }) => counts.failed));
  const reasons = await context.reader.reasons(runs.map(({ id }) => id));
  const unknown = sum(
    [...reasons.values()]
      .flat()
      .filter(({ outcome, reason }) => outcome === 'failed' && reason === 'unknown-effect')
      .map(({ count }) => count),
  );
  const one = runs.length === 1;
  const price = await priceOf(context, runs, ({ requests, counts }) =>
    Math.ceil((requests / Math.max(1, counts.planned)) * counts.failed),
  );
  return [
    one ? 'A new run,' : `${runs.length} new runs, each`,
    ` with the policy as it was then, ${one ? 'works' : 'work'} on the ${countOf(failed, 'target')} that failed.`,
    price === undefined ? '' : ` By what the ${one ? 'run' : 'runs'} cost, this takes about ${price}.`,
    ` What the new ${one ? 'run changes' : 'runs change'} cannot be undone here.`,
    unknown === 0
      ? ''
      : ` For ${countOf(unknown, 'target')} it is unknown whether they changed (unknown-effect): check the account first.`,
  ].join('');
}

export async function cancelText(context: DashboardContext, runs: readonly Run[]): Promise<string> {
  const open = sum(runs.map(({ counts }) => counts.planned - endedCount(counts)));
  const price = await priceOf(context, runs, ({ counts }) => counts.planned - endedCount(counts));
  return [
    `No more targets are started; ${countOf(open, 'target')} ${open === 1 ? 'has' : 'have'} not ended. Work in progress is followed to`,
    ' its end, tasks in the service are cancelled where the job allows it, and every target gets an outcome.',
    price === undefined ? '' : ` Cancelling tasks takes at most ${price}.`,
    ' A cancelled run cannot be continued.',
  ].join('');
}

/** `120 requests, 1 min with the whole budget`; undefined when nothing is known of it. */
async function priceOf(
  context: DashboardContext,
  runs: readonly Run[],
  requestsOf: (run: Run) => number,
): Promise<string | undefined> {
  const limits = new Map((await context.accounts()).map(({ account, limit }) => [account, limit]));
  const byAccount = new Map<string, number>();
  for (const run of runs) byAccount.set(run.account, (byAccount.get(run.account) ?? 0) + requestsOf(run));
  const requests = sum([...byAccount.values()]);
  if (requests === 0) return undefined;
  const minutes = [...byAccount].map(([account, count]) => count / (limits.get(account) ?? Number.NaN));
  const longest = Math.ceil(Math.max(...minutes));
  const time = Number.isNaN(longest) ? '' : ` and ${countOf(longest, 'minute')} with the whole budget`;
  return `${number(requests)} ${requests === 1 ? 'request' : 'requests'}${time}`;
}

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);
