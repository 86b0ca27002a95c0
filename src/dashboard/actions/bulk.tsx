/** Retry or cancel several runs: each by the command for one, so each has its line in the audit log. */
import { isPermitted, type Principal } from '../../access/principal.ts';
import { carryOut } from '../../control/carry-out.ts';
import { cancelRun, retryRun } from '../../control/commands/change-run.ts';
import { CaretakerError } from '../../errors.ts';
import { endedCount, isFinal } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import { countOf } from '../../text.ts';
import { actorOf } from '../auth/actor.ts';
import { localPath } from '../auth/origin.ts';
import { principalOf } from '../auth/principal-of.ts';
import { showPage } from '../components/layout.tsx';
import { runPath } from '../components/paths.ts';
import { number } from '../components/progress.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { sendResult } from './bulk-result.tsx';
import { showConfirmation } from './confirm.tsx';

/** At most so many runs at once: as many as a page of the list has. */
export const MAX_SELECTED = 50;

const kinds = ['retry', 'cancel'] as const;
type Kind = (typeof kinds)[number];
export const BULK_PATHS: Readonly<Record<Kind, string>> = { retry: '/bulk/retry', cancel: '/bulk/cancel' };

const words = {
  retry: { verb: 'Retry', done: 'retried', after: '/runs?trigger=retry' },
  cancel: { verb: 'Cancel', done: 'cancelled', after: '/runs?status=active' },
} as const;

/** What was selected: the runs that it can be done to, and why not to the others. */
interface Selection {
  runs: Run[];
  others: { id: string; why: string }[];
  back: string;
}

async function selectionOf(
  context: DashboardContext,
  principal: Principal | undefined,
  kind: Kind,
  { ids, back }: { ids: readonly string[]; back: string },
): Promise<Selection> {
  const wanted = [...new Set(ids)].slice(0, MAX_SELECTED);
  const found = new Map((await context.reader.runsOf(wanted)).map((run) => [run.id, run]));
  const selection: Selection = { runs: [], others: [], back };
  for (const id of wanted) {
    const run = found.get(id);
    const why = run ? whyNot(run, kind, principal) : 'there is no such run any more';
    if (run && why === undefined) selection.runs.push(run);
    else selection.others.push({ id, why: why ?? '' });
  }
  return selection;
}

/** Without a principal nobody is asked yet: the command refuses what is not permitted, for the audit log too. */
function whyNot(run: Run, kind: Kind, principal: Principal | undefined): string | undefined {
  if (principal && !isPermitted(principal, 'operator', run)) return 'you may not do this';
  if (kind === 'cancel') return isFinal(run.status) ? `it has already ended: ${run.status}` : undefined;
  if (!isFinal(run.status)) return `it has not ended: ${run.status}`;
  return run.counts.failed === 0 ? 'nothing in it failed' : undefined;
}

const ask = (kind: Kind) => async (c: Exchange, context: DashboardContext) => {
  const given = { ids: c.req.queries('run') ?? [], back: localPath(c.req.query('back') ?? '/runs') };
  if (given.ids.length === 0) return c.redirect(given.back, 303);
  const selection = await selectionOf(context, principalOf(c), kind, given);
  const { runs, others, back } = selection;
  const { verb, done } = words[kind];
  const left = others.length > 0 && (
    <ul>
      {others.map(({ id, why }) => (
        <li>
          <span class="id">{id}</span> is left out: {why}.
        </li>
      ))}
    </ul>
  );
  if (runs.length === 0) {
    return showPage(
      c,
      context,
      { title: `Nothing to ${kind}` },
      <section class="narrow card" id="question">
        <h1 id="question-title">None of these runs can be {done}</h1>
        {left}
        <p class="actions">
          <a class="action" href={back} data-closes>
            Do nothing
          </a>
        </p>
      </section>,
    );
  }
  const counted = countOf(runs.length, 'run');
  return showConfirmation(c, context, {
    title: `${verb} ${counted}?`,
    text: kind === 'retry' ? await retryText(context, runs) : await cancelText(context, runs),
    button: `${verb} ${counted}`,
    back,
    fields: (
      <>
        {left}
        {runs.map(({ id }) => (
          <input type="hidden" name="run" value={id} />
        ))}
        <input type="hidden" name="back" value={back} />
      </>
    ),
  });
};

export const askToRetryMany = ask('retry');
export const askToCancelMany = ask('cancel');

async function retryText(context: DashboardContext, runs: readonly Run[]): Promise<string> {
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
    one ? 'A new run' : `${runs.length} new runs, each`,
    ` with the policy as it was then, ${one ? 'works' : 'work'} on the ${countOf(failed, 'target')} that failed.`,
    price === undefined ? '' : ` By what the runs cost, this takes about ${price}.`,
    ' What the new runs change cannot be undone here.',
    unknown === 0
      ? ''
      : ` For ${countOf(unknown, 'target')} it is unknown whether they changed (unknown-effect): check the account first.`,
  ].join('');
}

async function cancelText(context: DashboardContext, runs: readonly Run[]): Promise<string> {
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

const act = (kind: Kind) => async (c: Exchange, context: DashboardContext) => {
  const form = await c.req.parseBody({ all: true });
  const ids = [form['run'] ?? []].flat().filter((id) => typeof id === 'string');
  const back = localPath(typeof form['back'] === 'string' ? form['back'] : '/runs');
  if (ids.length === 0) return c.redirect(back, 303);
  const { runs, others } = await selectionOf(context, undefined, kind, { ids, back });
  const { control, log } = context;
  const failures = [...others];
  let count = 0;
  for (const { id } of runs) {
    try {
      if (kind === 'retry') await carryOut(retryRun, control, { run: id }, actorOf(c));
      else await carryOut(cancelRun, control, { run: id }, actorOf(c));
      count += 1;
    } catch (error) {
      // The sentence is for people; the other runs do not depend on this one.
      if (!(error instanceof CaretakerError)) throw error;
      failures.push({ id, why: error.message });
    }
  }
  const { done, after } = words[kind];
  log.info({ runs: count }, `${done} from the dashboard`);
  return sendResult(c, context, {
    text: `${countOf(count, 'run')} ${done}`,
    failures: failures.map(({ id, why }) => ({ name: id, path: runPath(id), isId: true, why })),
    after: { path: after, word: 'Show the runs' },
    back,
    here: '/runs',
  });
};

export const retryMany = act('retry');
export const cancelMany = act('cancel');
