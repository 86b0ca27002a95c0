/** Changes to a run: cancel, force-end, retry. They do what the commands do. */
import { carryOut } from '../../control/carry-out.ts';
import { cancelRun, forceEndRun, retryRun } from '../../control/commands/change-run.ts';
import { isFinal } from '../../run/moves.ts';
import { countOf } from '../../text.ts';
import { actorOf } from '../auth/caller.ts';
import { NO_RUN } from '../auth/guard.tsx';
import { Why } from '../components/contexts.tsx';
import { runPath } from '../components/paths.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { redirectWith } from '../http/toast.ts';
import { sendProblem } from '../pages/problem.tsx';
import { Box, showConfirmation } from './confirm.tsx';
import { cancelText, failuresOf, retryText } from './run-questions.ts';

const idIn = (c: Exchange): string => c.req.param('id') ?? '';

export async function askToCancel(c: Exchange, context: DashboardContext): Promise<Response> {
  const run = await context.reader.run(idIn(c));
  if (!run) return sendProblem(c, context, 404, NO_RUN);
  if (isFinal(run.status)) return sendProblem(c, context, 409, `The run has already ended: ${run.status}.`);
  return showConfirmation(c, context, {
    title: `Cancel ${run.id}?`,
    text: await cancelText(context, [run]),
    button: 'Cancel the run',
    back: runPath(run.id),
  });
}

export async function cancel(c: Exchange, context: DashboardContext): Promise<Response> {
  const { control, log } = context;
  const id = idIn(c);
  await carryOut(cancelRun, control, { run: id }, actorOf(c));
  log.info({ run: id }, 'cancelled from the dashboard');
  return redirectWith(c, context, runPath(id), {
    text: 'The run is being cancelled: work in progress is followed to its end.',
  });
}

/** As `cancel --force`: for a run that no worker serves, or that takes too long to cancel. */
export async function askToForceEnd(c: Exchange, context: DashboardContext): Promise<Response> {
  const run = await context.reader.run(idIn(c));
  if (!run) return sendProblem(c, context, 404, NO_RUN);
  if (isFinal(run.status)) return sendProblem(c, context, 409, `The run has already ended: ${run.status}.`);
  return showConfirmation(c, context, {
    title: `Force-end ${run.policy}?`,
    text: `Every target of ${run.id} gets its outcome now, as far as it is known. Work in progress continues in the service, but its result is not recorded.`,
    button: 'Force-end the run',
    back: runPath(run.id),
  });
}

export async function forceEnd(c: Exchange, context: DashboardContext): Promise<Response> {
  const { control, log } = context;
  const run = await carryOut(forceEndRun, control, { run: idIn(c) }, actorOf(c));
  log.info({ run: run.id }, 'force-ended from the dashboard');
  return redirectWith(c, context, runPath(run.id), { text: 'The run has ended.' });
}

export async function askToRetry(c: Exchange, context: DashboardContext): Promise<Response> {
  const run = await context.reader.run(idIn(c));
  if (!run) return sendProblem(c, context, 404, NO_RUN);
  const { failed } = run.counts;
  if (!isFinal(run.status) || failed === 0) {
    return sendProblem(
      c,
      context,
      409,
      'There is nothing to retry: the run has not ended, or nothing in it failed.',
    );
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
}

export async function retry(c: Exchange, context: DashboardContext): Promise<Response> {
  const { control, log } = context;
  const form = await c.req.parseBody({ all: true });
  const with_reason = [form['with_reason'] ?? []].flat().filter((one) => typeof one === 'string');
  if (with_reason.length === 0)
    return sendProblem(
      c,
      context,
      400,
      'Nothing was chosen, so nothing was retried. Choose at least one reason.',
    );
  const run = await carryOut(retryRun, control, { run: idIn(c), with_reason }, actorOf(c));
  log.info({ run: run.id, of: idIn(c) }, 'retried from the dashboard');
  return redirectWith(c, context, runPath(run.id), { text: 'The retry was started. This is its run.' });
}
