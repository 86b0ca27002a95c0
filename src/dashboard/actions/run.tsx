/** Changes to a run: cancel, release, force-end, retry. They do what the commands do. */
import { isFinal } from '../../run/moves.ts';
import { number, runPath } from '../components/components.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { sendProblem } from '../pages/problem.tsx';
import { showConfirmation } from './confirm.tsx';

const idIn = (c: Exchange): string => c.req.param('id') ?? '';
const NO_RUN = 'There is no such run, or it is older than the retention period.';

export async function askToCancel(c: Exchange, context: DashboardContext): Promise<Response> {
  const run = await context.reader.run(idIn(c));
  if (!run) return sendProblem(c, context, 404, NO_RUN);
  if (isFinal(run.status)) return sendProblem(c, context, 409, `The run has already ended: ${run.status}.`);
  return showConfirmation(c, context, {
    title: `Cancel ${run.policy}?`,
    text: `No more targets of ${run.id} are started. Work in progress is followed to its end, and every target gets an outcome.`,
    button: 'Cancel the run',
    back: runPath(run.id),
  });
}

export async function cancel(c: Exchange, { engine, log }: DashboardContext): Promise<Response> {
  const id = idIn(c);
  await engine.cancel(id);
  log.info({ run: id }, 'cancelled from the dashboard');
  return c.redirect(runPath(id), 303);
}

/** As `runs release`: for a run that is held because Redis was restored to an older state. */
export async function askToRelease(c: Exchange, context: DashboardContext): Promise<Response> {
  const run = await context.reader.run(idIn(c));
  if (!run) return sendProblem(c, context, 404, NO_RUN);
  if (!run.held) return sendProblem(c, context, 409, 'The run is not held: there is nothing to release.');
  return showConfirmation(c, context, {
    title: `Release ${run.policy}?`,
    text: `${run.id} continues with every target that Redis shows as open. Some of them may have been changed already, and would be changed a second time: check the account first.`,
    button: 'Release the run',
    back: runPath(run.id),
  });
}

export async function release(c: Exchange, { engine, log }: DashboardContext): Promise<Response> {
  const id = idIn(c);
  await engine.release(id);
  log.info({ run: id }, 'released from the dashboard');
  return c.redirect(runPath(id), 303);
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

export async function forceEnd(c: Exchange, { engine, log }: DashboardContext): Promise<Response> {
  const run = await engine.forceEnd(idIn(c));
  log.info({ run: run.id }, 'force-ended from the dashboard');
  return c.redirect(runPath(run.id), 303);
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
  const reasons = (await context.reader.reasons([run.id])).get(run.id) ?? [];
  const unknown =
    reasons.find((one) => one.outcome === 'failed' && one.reason === 'unknown-effect')?.count ?? 0;
  const warning =
    unknown === 0
      ? ''
      : ` For ${number(unknown)} of them it is unknown whether they changed (unknown-effect): check the account first.`;
  const targets = failed === 1 ? 'the target' : `the ${number(failed)} targets`;
  return showConfirmation(c, context, {
    title: `Retry what failed in ${run.policy}?`,
    text: `A new run, with the policy as it was then, works on ${targets} that failed in ${run.id}.${warning}`,
    button: 'Retry',
    back: runPath(run.id),
  });
}

export async function retry(c: Exchange, { engine, log }: DashboardContext): Promise<Response> {
  const run = await engine.retry(idIn(c));
  log.info({ run: run.id, of: idIn(c) }, 'retried from the dashboard');
  return c.redirect(runPath(run.id), 303);
}
