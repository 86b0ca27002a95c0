/** What a person is told before runs are retried or cancelled: how much, its price, what cannot be undone. */
import { endedCount } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import { countOf } from '../../text.ts';
import { number } from '../components/progress.tsx';
import type { DashboardContext } from '../http/context.ts';

/** How many targets of runs failed with each reason, those first that a retry may help. */
export async function failuresOf(
  { reader, reasons: known }: DashboardContext,
  runs: readonly Run[],
): Promise<Failure[]> {
  const found = [...(await reader.reasons(runs.map(({ id }) => id))).values()].flat();
  const counts = new Map<string, number>();
  for (const { outcome, reason, count } of found)
    if (outcome === 'failed') counts.set(reason, (counts.get(reason) ?? 0) + count);
  return [...counts]
    .map(([reason, count]) => ({ reason, count, helps: known.get(reason)?.retryable === true }))
    .sort((a, b) => Number(b.helps) - Number(a.helps) || b.count - a.count);
}

interface Failure {
  reason: string;
  count: number;
  /** A retry may help without any other change. */
  helps: boolean;
}

export async function retryText(context: DashboardContext, runs: readonly Run[]): Promise<string> {
  const failures = await failuresOf(context, runs);
  const helped = sum(failures.flatMap(({ helps, count }) => (helps ? [count] : [])));
  const others = failures.flatMap(({ helps, reason, count }) => (helps ? [] : [`${count} ${reason}`]));
  const one = runs.length === 1;
  const price = await priceOf(context, runs, ({ requests, counts }) =>
    Math.ceil((requests / Math.max(1, counts.planned)) * counts.failed),
  );
  return [
    `${one ? 'A new run' : `${runs.length} new runs`}, with the policy as it was then, ${one ? 'works' : 'each work'} on what failed for a reason for which a retry may help: ${countOf(helped, 'target')}.`,
    others.length === 0 ? '' : ` For the others the cause has to be fixed first (${others.join(', ')}).`,
    price === undefined
      ? ''
      : ` For everything that failed this takes about ${price}, by what the ${one ? 'run' : 'runs'} cost.`,
    ` What the new ${one ? 'run changes' : 'runs change'} cannot be undone here.`,
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
