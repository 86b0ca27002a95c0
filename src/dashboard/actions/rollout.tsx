/** Approve or reject a run, skip the pause of a rollout, resume it. They do what the commands do. */
import { carryOut } from '../../control/carry-out.ts';
import { approveRun, openTargets, rejectRun } from '../../control/commands/approve-run.ts';
import { resumeRollout, skipPause } from '../../control/commands/change-rollout.ts';
import { lastApproval } from '../../run/rollout.ts';
import { formatWhy } from '../../run/rollout-report.ts';
import type { Run } from '../../run/run.ts';
import { countOf } from '../../text.ts';
import { actorOf } from '../auth/caller.ts';
import { NO_RUN } from '../auth/guard.tsx';
import { runPath } from '../components/paths.ts';
import { Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { redirectWith } from '../http/toast.ts';
import { sendProblem } from '../pages/problem.tsx';
import { showConfirmation } from './confirm.tsx';

const idIn = (c: Exchange): string => c.req.param('id') ?? '';

const Reason = () => (
  <label>
    Reason (shown to all users)
    <input name="reason" maxlength={200} autocomplete="off" />
  </label>
);

/** Fields of a decision: the plan that the page showed, and only some batches or targets. */
const DecisionFields = ({ run, only }: { run: Run; only: string }) => (
  <>
    <input type="hidden" name="plan" value={lastApproval(run)?.hash ?? ''} />
    <Reason />
    {(run.rollout?.batches.length ?? 1) > 1 && (
      <label>
        {only === 'approve' ? 'Only up to batch (empty: all that wait)' : 'Only batch (empty: the whole run)'}
        <input name="batch" inputmode="numeric" maxlength={3} autocomplete="off" />
      </label>
    )}
    <label>
      {only === 'approve'
        ? 'Only these targets, by their ids (empty: all; the others are not done)'
        : 'Only these targets, by their ids (empty: all; the others wait on)'}
      <input name="targets" autocomplete="off" />
    </label>
  </>
);

async function ask(
  c: Exchange,
  context: DashboardContext,
  decision: 'approve' | 'reject',
): Promise<Response> {
  const run = await context.reader.run(idIn(c));
  if (!run) return sendProblem(c, context, 404, NO_RUN);
  const approval = lastApproval(run);
  if (run.status !== 'awaiting-approval' || !approval || approval.decided)
    return sendProblem(c, context, 409, `The run does not wait for an approval: ${run.status}.`);
  const cost = approval.requests === undefined ? '' : `, about ${countOf(approval.requests, 'request')}`;
  const facts = `${countOf(openTargets(run), 'target')}${cost}. ${formatWhy(approval)}`;
  return showConfirmation(c, context, {
    title: decision === 'approve' ? `Approve ${run.policy}?` : `Reject ${run.policy}?`,
    text: (
      <>
        {run.id}: {facts} It expires on <Time at={approval.expires} now={context.clock.now()} show="both" />.
      </>
    ),
    button: `${decision === 'approve' ? 'Approve' : 'Reject'} ${countOf(openTargets(run), 'target')}`,
    back: runPath(run.id),
    fields: <DecisionFields run={run} only={decision} />,
  });
}

export const askToApprove = (c: Exchange, context: DashboardContext) => ask(c, context, 'approve');
export const askToReject = (c: Exchange, context: DashboardContext) => ask(c, context, 'reject');

async function textsIn(c: Exchange): Promise<(field: string) => string | undefined> {
  const form = await c.req.parseBody();
  return (field) => {
    const value = form[field];
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
  };
}

async function decisionIn(c: Exchange) {
  const text = await textsIn(c);
  const [batch, targets] = [text('batch'), text('targets')];
  return {
    run: idIn(c),
    reason: text('reason')?.slice(0, 200),
    plan: text('plan'),
    ...(batch === undefined ? {} : { batch: Number(batch) }),
    ...(targets === undefined ? {} : { targets: targets.split(/[\s,]+/).filter((id) => id !== '') }),
  };
}

export async function approve(c: Exchange, context: DashboardContext): Promise<Response> {
  const { control, log } = context;
  const input = await decisionIn(c);
  await carryOut(approveRun, control, input, actorOf(c));
  log.info({ run: input.run }, 'approved from the dashboard');
  return redirectWith(c, context, runPath(input.run), { text: 'The run is approved.' });
}

export async function reject(c: Exchange, context: DashboardContext): Promise<Response> {
  const { control, log } = context;
  const input = await decisionIn(c);
  await carryOut(rejectRun, control, input, actorOf(c));
  log.info({ run: input.run }, 'rejected from the dashboard');
  return redirectWith(c, context, runPath(input.run), { text: 'The run is rejected.' });
}

export async function askToSkipPause(c: Exchange, context: DashboardContext): Promise<Response> {
  const run = await context.reader.run(idIn(c));
  if (!run) return sendProblem(c, context, 404, NO_RUN);
  if (run.rollout?.is !== 'pausing') return sendProblem(c, context, 409, 'The run does not pause.');
  return showConfirmation(c, context, {
    title: `Skip the pause of ${run.policy}?`,
    text: `The gate of ${run.id} is asked now. If it is open, the next batch begins.`,
    button: 'Skip the pause',
    back: runPath(run.id),
    fields: <Reason />,
  });
}

export async function skip(c: Exchange, context: DashboardContext): Promise<Response> {
  const { control } = context;
  const reason = (await textsIn(c))('reason');
  await carryOut(skipPause, control, { run: idIn(c), reason }, actorOf(c));
  return redirectWith(c, context, runPath(idIn(c)), { text: 'The pause is skipped.' });
}

export async function askToResumeRollout(c: Exchange, context: DashboardContext): Promise<Response> {
  const run = await context.reader.run(idIn(c));
  if (!run) return sendProblem(c, context, 404, NO_RUN);
  const isStopped = run.ending === 'gate-closed';
  return showConfirmation(c, context, {
    title: `${isStopped ? 'Run the rest of' : 'Begin the next batch of'} ${run.policy}?`,
    text: isStopped
      ? `A new run, with the policy as it was then, works on the targets that were not started in ${run.id}.`
      : `The next batch of ${run.id} begins now, whatever its gate says.`,
    button: isStopped ? 'Run the rest' : 'Begin the next batch',
    back: runPath(run.id),
    fields: <Reason />,
  });
}

export async function resumeOne(c: Exchange, context: DashboardContext): Promise<Response> {
  const { control } = context;
  const reason = (await textsIn(c))('reason');
  const run = await carryOut(resumeRollout, control, { run: idIn(c), reason }, actorOf(c));
  return redirectWith(c, context, runPath(run.id), { text: 'The rollout continues.' });
}
