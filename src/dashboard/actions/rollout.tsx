/** Approve, reject or resume a run. They do what the commands do. */
import { carryOut } from '../../control/carry-out.ts';
import { approveRun, openTargets, rejectRun } from '../../control/commands/approve-run.ts';
import { type Resumption, resumeRun, resumptionOf } from '../../control/commands/resume-run.ts';
import { InvalidRequestError } from '../../control/errors.ts';
import { lastApproval } from '../../run/rollout.ts';
import { formatWhy } from '../../run/rollout-report.ts';
import type { Run, Target } from '../../run/run.ts';
import { countOf } from '../../text.ts';
import { actorOf } from '../auth/caller.ts';
import { NO_RUN } from '../auth/guard.tsx';
import { runPath, siteName } from '../components/paths.ts';
import { Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { redirectWith } from '../http/toast.ts';
import { sendProblem } from '../pages/problem.tsx';
import { Box, ReasonField, showConfirmation, TextField } from './confirm.tsx';

const idIn = (c: Exchange): string => c.req.param('id') ?? '';

/** A run with more targets has a field for their ids in place of check boxes. */
const MAX_BOXES = 50;

interface FieldsProps {
  run: Run;
  only: string;
  /** The targets that a decision is about, if they are few enough to be chosen one by one. */
  open: readonly Target[];
}

/** Fields of a decision: the plan that the page showed, and only some batches or targets. */
const DecisionFields = ({ run, only, open }: FieldsProps) => (
  <>
    <input type="hidden" name="plan" value={lastApproval(run)?.hash ?? ''} />
    <ReasonField />
    {(run.rollout?.batches.length ?? 1) > 1 && (
      <TextField
        name="batch"
        label={
          only === 'approve' ? 'Only up to batch (empty: all that wait)' : 'Only batch (empty: the whole run)'
        }
        inputmode="numeric"
        maxlength={3}
      />
    )}
    {open.length > 0 ? (
      <fieldset class="choices">
        <legend>
          {only === 'approve' ? 'Targets: the others are not done' : 'Targets: the others wait on'}
        </legend>
        <input type="hidden" name="of" value={String(open.length)} />
        {open.map(({ id, label }) => (
          <Box name="targets" value={id} otherwise>
            {siteName(label, id)}
          </Box>
        ))}
      </fieldset>
    ) : (
      <TextField
        name="targets"
        label={
          only === 'approve'
            ? 'Only these targets, by their ids (empty: all; the others are not done)'
            : 'Only these targets, by their ids (empty: all; the others wait on)'
        }
      />
    )}
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
    fields: <DecisionFields run={run} only={decision} open={await chosenFrom(context, run)} />,
  });
}

/** The targets that can be chosen one by one: none of a run with batches, where a decision may be about some of them. */
async function chosenFrom({ reader }: DashboardContext, run: Run): Promise<readonly Target[]> {
  if ((run.rollout?.batches.length ?? 1) > 1 || openTargets(run) > MAX_BOXES) return [];
  return (await reader.targets(run.id, { outcome: 'open', from: 0, limit: MAX_BOXES })).targets;
}

export const askToApprove = (c: Exchange, context: DashboardContext) => ask(c, context, 'approve');
export const askToReject = (c: Exchange, context: DashboardContext) => ask(c, context, 'reject');

async function textsIn(c: Exchange): Promise<(field: string) => string[]> {
  const form = await c.req.parseBody({ all: true });
  return (field) =>
    [form[field] ?? []].flat().flatMap((value) => (typeof value === 'string' && value.trim()) || []);
}

async function decisionIn(c: Exchange) {
  const texts = await textsIn(c);
  const text = (field: string) => texts(field)[0];
  const [batch, of] = [text('batch'), text('of')];
  const targets = texts('targets').flatMap((one) => one.split(/[\s,]+/).filter((id) => id !== ''));
  if (of !== undefined && targets.length === 0)
    throw new InvalidRequestError('No target was chosen, so nothing was decided.');
  return {
    run: idIn(c),
    reason: text('reason')?.slice(0, 200),
    plan: text('plan'),
    ...(batch === undefined ? {} : { batch: Number(batch) }),
    // All of them is the whole run.
    ...(targets.length === 0 || String(targets.length) === of ? {} : { targets }),
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
        <ReasonField />
      </>
    ),
  });
}

export async function resumeOne(c: Exchange, context: DashboardContext): Promise<Response> {
  const texts = await textsIn(c);
  const text = (field: string) => texts(field)[0];
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
