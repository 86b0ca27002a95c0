/** Changes to a run, or several: cancel, force-end, retry. They do what the commands do. */
import { cancelRun, forceEndRun, retryRun } from '../../control/commands/change-run.ts';
import { InvalidRequestError, NotFoundError } from '../../control/errors.ts';
import { isFinal } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import { countOf } from '../../text.ts';
import { change } from '../auth/caller.ts';
import { NO_RUN, onRun } from '../auth/guard.tsx';
import { Why } from '../components/contexts.tsx';
import { runPath } from '../components/paths.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { redirectWith } from '../http/toast.ts';
import { sendProblem } from '../pages/problem.tsx';
import { bulkChange } from './bulk.tsx';
import { Box, type Change, formOf, showConfirmation } from './confirm.tsx';
import { cancelText, failuresOf, retryText } from './run-questions.ts';

export const idIn = (c: Exchange): string => c.req.param('id') ?? '';

export async function runIn(c: Exchange, { reader }: DashboardContext): Promise<Run> {
  const run = await reader.run(idIn(c));
  if (!run) throw new NotFoundError(NO_RUN);
  return run;
}

export const runChanges: readonly Change[] = [
  {
    path: '/runs/:id/cancel',
    ...onRun(cancelRun),
    ask: async (c, context) => {
      const run = await runIn(c, context);
      if (isFinal(run.status)) return sendProblem(c, context, 409, hasEnded(run));
      return showConfirmation(c, context, {
        title: `Cancel ${run.id}?`,
        text: await cancelText(context, [run]),
        button: 'Cancel the run',
        back: runPath(run.id),
      });
    },
    act: async (c, context) => {
      await change(c, context, cancelRun, { run: idIn(c) });
      return redirectWith(c, context, runPath(idIn(c)), {
        text: 'The run is being cancelled: work in progress is followed to its end.',
      });
    },
  },
  {
    // As `cancel --force`: for a run that no worker serves, or that takes too long to cancel.
    path: '/runs/:id/end',
    ...onRun(forceEndRun),
    ask: async (c, context) => {
      const run = await runIn(c, context);
      if (isFinal(run.status)) return sendProblem(c, context, 409, hasEnded(run));
      return showConfirmation(c, context, {
        title: `Force-end ${run.policy}?`,
        text: `Every target of ${run.id} gets its outcome now, as far as it is known. Work in progress continues in the service, but its result is not recorded.`,
        button: 'Force-end the run',
        back: runPath(run.id),
      });
    },
    act: async (c, context) => {
      await change(c, context, forceEndRun, { run: idIn(c) });
      return redirectWith(c, context, runPath(idIn(c)), { text: 'The run has ended.' });
    },
  },
  {
    path: '/runs/:id/retry',
    ...onRun(retryRun),
    ask: async (c, context) => {
      const run = await runIn(c, context);
      if (!isFinal(run.status) || run.counts.failed === 0) {
        const why = 'There is nothing to retry: the run has not ended, or nothing in it failed.';
        return sendProblem(c, context, 409, why);
      }
      return showConfirmation(c, context, {
        title: `Retry what failed in ${run.id}?`,
        text: await retryText(context, [run]),
        button: 'Retry these targets',
        back: runPath(run.id),
        fields: (
          <fieldset class="choices">
            <legend>Targets that failed with</legend>
            {(await failuresOf(context, [run])).map(({ reason, count, helps }) => (
              <Box name="with_reason" value={reason} otherwise={helps}>
                {countOf(count, 'target')}: <Why reason={reason} />
                {reason === 'unknown-effect' && ' Check the account first.'}
              </Box>
            ))}
          </fieldset>
        ),
      });
    },
    act: async (c, context) => {
      const with_reason = (await formOf(c)).texts('with_reason');
      if (with_reason.length === 0)
        throw new InvalidRequestError(
          'Nothing was chosen, so nothing was retried. Choose at least one reason.',
        );
      const run = await change(c, context, retryRun, { run: idIn(c), with_reason });
      const text = 'The retry was started. This is its run.';
      return redirectWith(c, context, runPath(run.id), { text });
    },
  },
];

const hasEnded = ({ status }: Run): string => `The run has already ended: ${status}.`;

/** As many as a page of the list has. */
export const MAX_SELECTED = 50;

const onRuns = {
  field: 'run',
  items: 'runs',
  counted: (count: number) => countOf(count, 'run'),
  limit: MAX_SELECTED,
  list: '/runs',
  pathOf: runPath,
  subject: (run: Run) => run,
  find: async ({ reader }: DashboardContext, ids: readonly string[]) =>
    new Map((await reader.runsOf(ids)).map((run) => [run.id, run])),
} as const;

const GONE = 'there is no such run any more';

/** By verb. */
export const bulkRunChanges = {
  Retry: bulkChange<Run>({
    ...onRuns,
    path: '/bulk/retry',
    command: retryRun,
    verb: 'Retry',
    done: 'retried',
    after: { path: '/runs?trigger=retry', word: 'Show the runs' },
    whyNot: (run) => {
      if (!run) return GONE;
      if (!isFinal(run.status)) return `it has not ended: ${run.status}`;
      return run.counts.failed === 0 ? 'nothing in it failed' : undefined;
    },
    text: retryText,
    act: (c, context) => (run) => change(c, context, retryRun, { run }),
  }),
  Cancel: bulkChange<Run>({
    ...onRuns,
    path: '/bulk/cancel',
    command: cancelRun,
    verb: 'Cancel',
    done: 'cancelled',
    after: { path: '/runs?status=active', word: 'Show the runs' },
    whyNot: (run) => {
      if (!run) return GONE;
      return isFinal(run.status) ? `it has already ended: ${run.status}` : undefined;
    },
    text: cancelText,
    act: (c, context) => (run) => change(c, context, cancelRun, { run }),
  }),
};
