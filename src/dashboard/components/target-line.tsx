/** Targets of a run, one line each; a line opens to its steps, findings and task. */
import { useContext } from 'hono/jsx';
import { shownOutcome } from '../../run/found.ts';
import { attemptsOf } from '../../run/report.ts';
import type { Run, Target } from '../../run/run.ts';
import { Badge } from './badge.tsx';
import { ReasonsContext, Why } from './contexts.tsx';
import { Dash } from './empty.tsx';
import { Findings } from './findings.tsx';
import { targetPath } from './paths.ts';
import { siteName } from './site-name.ts';
import { Steps } from './steps.tsx';
import { Cut, Table } from './table.tsx';
import { Sentence, Took } from './time.tsx';

export const TargetList = ({
  run,
  targets,
  stepNames,
}: {
  run: Run;
  targets: readonly Target[];
  /** The steps of the policy, to show the result of each. */
  stepNames: readonly string[];
}) => (
  <Table
    name="Targets"
    columns={(column) => [
      column('Target', 'w-target', ({ id, label }) => (
        <Cut whole={`${label} (${id})`}>
          <a href={`${targetPath(run.account, id)}?run=${encodeURIComponent(run.id)}`}>
            {siteName(label, id)}
          </a>{' '}
          <span class="dim">{id}</span>
        </Cut>
      )),
      column('State', 'w-badge', (target) => <TargetBadge target={target} />),
      column('Why', '', (target) => <WhyCell target={target} stepNames={stepNames} />),
      column('Attempts', 'w-word end', (target) =>
        target.startedAt === undefined ? <Dash /> : attemptsOf(target),
      ),
      column('Took', 'w-word end', ({ startedAt, finishedAt }) => <Took from={startedAt} to={finishedAt} />),
    ]}
    rows={targets}
    keyOf={({ id }) => id}
  />
);

/** What the line says, and what is behind it. */
const WhyCell = ({ target, stepNames }: { target: Target; stepNames: readonly string[] }) => {
  const { reason, detail, taskId, findings = [] } = target;
  const sentence = useContext(ReasonsContext).get(reason ?? '')?.text;
  const line = (
    <>
      {reason && <Why reason={reason} />} {detail && <Sentence text={detail} />}
    </>
  );
  if (!reason && !detail && stepNames.length === 0) return null;
  const hasMore = stepNames.length > 0 || taskId !== undefined || findings.length > 0 || detail !== undefined;
  if (!hasMore) return <Cut whole={[reason, sentence].filter(Boolean).join(': ')}>{line}</Cut>;
  return (
    <details class="more">
      <summary>{reason || detail ? line : <span class="dim">Steps</span>}</summary>
      <Steps names={stepNames} target={target} />
      <Findings target={target} />
      {taskId && <p class="dim id">task {taskId}</p>}
    </details>
  );
};

/** The outcome of a target, or its state. */
export const TargetBadge = ({ target: { outcome, reason, state } }: { target: Target }) => (
  <Badge word={outcome ? shownOutcome(useContext(ReasonsContext), outcome, reason) : state} />
);
