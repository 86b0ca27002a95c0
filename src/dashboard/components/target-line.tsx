/** Targets of a run, one line each; a line opens to its steps, findings and task. */
import { useContext } from 'hono/jsx';
import { shownOutcome } from '../../run/found.ts';
import { attemptsOf } from '../../run/report.ts';
import type { Run, Target } from '../../run/run.ts';
import { Badge } from './badge.tsx';
import { ReasonsContext, Why } from './contexts.tsx';
import { Findings } from './findings.tsx';
import { targetPath } from './paths.ts';
import { siteName } from './site-name.ts';
import { Steps } from './steps.tsx';
import { type Column, Cut, DataTable } from './table.tsx';
import { Sentence, Took } from './time.tsx';

const columns: readonly Column[] = [
  { head: 'Target', width: 'w-target' },
  { head: 'State', width: 'w-badge' },
  { head: 'Why' },
  { head: 'Attempts', width: 'w-word', end: true },
  { head: 'Took', width: 'w-word', end: true },
];

export const TargetList = ({
  run,
  targets,
  stepNames,
  now,
}: {
  run: Run;
  targets: readonly Target[];
  /** The steps of the policy, to show the result of each. */
  stepNames: readonly string[];
  now: number;
}) => (
  <DataTable name="Targets" columns={columns}>
    {targets.map((target) => (
      <tr data-key={target.id}>
        <td data-label="Target">
          <Cut whole={`${target.label} (${target.id})`}>
            <a href={`${targetPath(run.account, target.id)}?run=${encodeURIComponent(run.id)}`}>
              {siteName(target.label, target.id)}
            </a>{' '}
            <span class="dim">{target.id}</span>
          </Cut>
        </td>
        <td data-label="State">
          <TargetBadge target={target} />
        </td>
        <td data-label="Why">
          <WhyCell target={target} stepNames={stepNames} />
        </td>
        <td data-label="Attempts" class="end">
          {target.startedAt === undefined ? <span class="dim">–</span> : attemptsOf(target)}
        </td>
        <td data-label="Took" class="end">
          <Took from={target.startedAt} to={target.finishedAt} now={now} />
        </td>
      </tr>
    ))}
  </DataTable>
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
