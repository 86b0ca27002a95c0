/** Approve, reject or resume a run. They do what the commands do. */
import { carryOut } from '../../control/carry-out.ts';
import { approveRun, openTargets, rejectRun } from '../../control/commands/approve-run.ts';
import { type Resumption, resumeRun, resumptionOf } from '../../control/commands/resume-run.ts';
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
        {run.id}: {facts} It expires on <Time at={approval.expires} show="both" />.
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

/** What the page asks before a run is resumed, by what it waits for; undefined when it waits for nothing. */
const questionOf: Record<
  Resumption,
  ((run: Run) => Record<'title' | 'text' | 'button', string>) | undefined
> = {
  released: ({ id, policy }) => ({
    title: `Release ${policy}?`,
    text: `${id} continues with every target that Redis shows as open. Some of them may have been changed already, and would be changed a second time: check the account first.`,
    button: 'Release the run',
  }),
  'pause-skipped': ({ id, policy }) => ({
    title: `Skip the pause of ${policy}?`,
    text: `The gate of ${id} is asked now. If it is open, the next batch begins.`,
    button: 'Skip the pause',
  }),
  'gate-passed': ({ id, policy }) => ({
    title: `Begin the next batch of ${policy}?`,
    text: `The next batch of ${id} begins now, whatever its gate says.`,
    button: 'Begin the next batch',
  }),
  'rest-started': ({ id, policy }) => ({
    title: `Run the rest of ${policy}?`,
    text: `A new run, with the policy as it was then, works on the targets that were not started in ${id}.`,
    button: 'Run the rest',
  }),
  continued: undefined,
};

export async function askToResumeRun(c: Exchange, context: DashboardContext): Promise<Response> {
  const run = await context.reader.run(idIn(c));
  if (!run) return sendProblem(c, context, 404, NO_RUN);
  const ignoresGate = c.req.query('ignore_gate') !== undefined;
  const question = questionOf[resumptionOf(run, ignoresGate)]?.(run);
  if (!question) return sendProblem(c, context, 409, 'The run waits for nothing that can be resumed.');
  return showConfirmation(c, context, {
    ...question,
    back: runPath(run.id),
    fields: (
      <>
        {ignoresGate && <input type="hidden" name="ignore_gate" value="1" />}
        {run.held && <input type="hidden" name="release" value="1" />}
        <Reason />
      </>
    ),
  });
}

export async function resumeOne(c: Exchange, context: DashboardContext): Promise<Response> {
  const text = await textsIn(c);
  const input = {
    run: idIn(c),
    reason: text('reason'),
    ...(text('ignore_gate') === undefined ? {} : { ignore_gate: true }),
    ...(text('release') === undefined ? {} : { release: true }),
  };
  const { run } = await carryOut(resumeRun, context.control, input, actorOf(c));
  context.log.info({ run: run.id }, 'resumed from the dashboard');
  return redirectWith(c, context, runPath(run.id), { text: 'The run continues.' });
}
