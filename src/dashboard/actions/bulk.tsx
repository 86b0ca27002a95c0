/** Retry or cancel several runs: each by the command for one, so each has its line in the audit log. */
import { isPermitted, type Principal } from '../../access/principal.ts';
import { carryOut } from '../../control/carry-out.ts';
import { cancelRun, retryRun } from '../../control/commands/change-run.ts';
import { CaretakerError } from '../../errors.ts';
import { isFinal } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import { countOf } from '../../text.ts';
import { actorOf, principalOf } from '../auth/caller.ts';
import { localPath } from '../auth/origin.ts';
import { showPage } from '../components/layout.tsx';
import { runPath } from '../components/paths.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { sendResult } from './bulk-result.tsx';
import { showConfirmation } from './confirm.tsx';
import { cancelText, retryText } from './run-questions.ts';

/** At most this many runs at once: as many as a page of the list has. */
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

/** Without a principal no one is asked yet: the command refuses what is not permitted, for the audit log too. */
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
          <span class="id">{id}</span> is skipped: {why}.
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
