/** Approve, reject or resume a run. They do what the commands do. */
import { approveRun, openTargets, rejectRun } from '../../control/commands/approve-run.ts';
import { type Resumption, resumeRun, resumptionOf } from '../../control/commands/resume-run.ts';
import { InvalidRequestError } from '../../control/errors.ts';
import { lastApproval } from '../../run/rollout.ts';
import { formatWhy } from '../../run/rollout-report.ts';
import type { Run, Target } from '../../run/run.ts';
import { countOf } from '../../text.ts';
import { change } from '../auth/caller.ts';
import { onRun } from '../auth/guard.tsx';
import { runPath, siteName } from '../components/paths.ts';
import { Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { redirectWith } from '../http/toast.ts';
import { sendProblem } from '../pages/problem.tsx';
import { Box, type Change, formOf, Hidden, ReasonField, showConfirmation, TextField } from './confirm.tsx';
import { idIn, runIn } from './run.tsx';

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
    <Hidden fields={{ plan: lastApproval(run)?.hash }} />
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
        <Hidden fields={{ of: String(open.length) }} />
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

/** The targets that can be chosen one by one: none of a run with batches, where a decision may be about some of them. */
async function chosenFrom({ reader }: DashboardContext, run: Run): Promise<readonly Target[]> {
  if ((run.rollout?.batches.length ?? 1) > 1 || openTargets(run) > MAX_BOXES) return [];
  return (await reader.targets(run.id, { outcome: 'open', from: 0, limit: MAX_BOXES })).targets;
}

async function decisionIn(c: Exchange) {
  const { text, texts } = await formOf(c);
  const [batch, of] = [text('batch'), text('of')];
  const targets = texts('targets').flatMap((one) => one.split(/[\s,]+/).filter((id) => id !== ''));
  if (of !== undefined && targets.length === 0)
    throw new InvalidRequestError('No target was chosen, so nothing was decided.');
  return {
    run: idIn(c),
    reason: text('reason'),
    plan: text('plan'),
    ...(batch === undefined ? {} : { batch: Number(batch) }),
    // All of them is the whole run.
    ...(targets.length === 0 || String(targets.length) === of ? {} : { targets }),
  };
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

const decision = (decision: 'approve' | 'reject', verb: string, done: string): Change => ({
  path: `/runs/:id/${decision}`,
  ...onRun(decision === 'approve' ? approveRun : rejectRun),
  ask: async (c, context) => {
    const run = await runIn(c, context);
    const approval = lastApproval(run);
    if (run.status !== 'awaiting-approval' || !approval || approval.decided)
      return sendProblem(c, context, 409, `The run does not wait for an approval: ${run.status}.`);
    const cost = approval.requests === undefined ? '' : `, about ${countOf(approval.requests, 'request')}`;
    const targets = countOf(openTargets(run), 'target');
    return showConfirmation(c, context, {
      title: `${verb} ${run.policy}?`,
      text: (
        <>
          {run.id}: {targets}
          {cost}. {formatWhy(approval)} It expires on <Time at={approval.expires} show="both" />.
        </>
      ),
      button: `${verb} ${targets}`,
      back: runPath(run.id),
      fields: <DecisionFields run={run} only={decision} open={await chosenFrom(context, run)} />,
    });
  },
  act: async (c, context) => {
    const input = await decisionIn(c);
    if (decision === 'approve') await change(c, context, approveRun, input);
    else await change(c, context, rejectRun, input);
    return redirectWith(c, context, runPath(input.run), { text: `The run is ${done}.` });
  },
});

export const rolloutChanges: readonly Change[] = [
  decision('approve', 'Approve', 'approved'),
  decision('reject', 'Reject', 'rejected'),
  {
    path: '/runs/:id/resume',
    ...onRun(resumeRun),
    ask: async (c, context) => {
      const run = await runIn(c, context);
      const ignoresGate = c.req.query('ignore_gate') !== undefined;
      const question = questionOf[resumptionOf(run, ignoresGate)]?.(run);
      if (!question) return sendProblem(c, context, 409, 'The run waits for nothing that can be resumed.');
      return showConfirmation(c, context, {
        ...question,
        back: runPath(run.id),
        fields: (
          <>
            <Hidden
              fields={{ ignore_gate: ignoresGate ? '1' : undefined, release: run.held ? '1' : undefined }}
            />
            <ReasonField />
          </>
        ),
      });
    },
    act: async (c, context) => {
      const { text } = await formOf(c);
      const { run } = await change(c, context, resumeRun, {
        run: idIn(c),
        reason: text('reason'),
        ...(text('ignore_gate') && { ignore_gate: true }),
        ...(text('release') && { release: true }),
      });
      return redirectWith(c, context, runPath(run.id), { text: 'The run continues.' });
    },
  },
];
