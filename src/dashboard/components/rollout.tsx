/** The batches of a run, its gates, and the approvals that it waited for. */

import { isFinal } from '../../run/moves.ts';
import { type Batch, lastApproval, type Seen } from '../../run/rollout.ts';
import {
  batchesOfRun,
  formatAfterBatch,
  formatDecisions,
  formatStanding,
  stateOfBatch,
} from '../../run/rollout-report.ts';
import type { Run } from '../../run/run.ts';
import { Action } from './action.tsx';
import { Badge } from './badge.tsx';
import { useMay } from './contexts.tsx';
import { runPath, targetPath } from './paths.ts';
import { number } from './progress.tsx';
import { Cut, Table } from './table.tsx';
import { Sentence } from './time.tsx';

interface RolloutProps {
  run: Run;
  /** What the gates saw, by the batch before each. */
  gates: ReadonlyMap<number, readonly Seen[]>;
}

/** How far the run is, and what its gates saw, site by site. Nothing for a run without batches and approvals. */
export const RolloutSection = ({ run, gates }: RolloutProps) => {
  const [standing, decisions, batches] = [formatStanding(run), formatDecisions(run), batchesOfRun(run)];
  if (standing === undefined && decisions.length === 0 && batches.length === 0) return null;
  return (
    <section id="rollout" data-live>
      <h2>{batches.length === 0 ? 'Approval' : 'Rollout'}</h2>
      {standing !== undefined && (
        <p class="note">
          <Sentence text={standing} />
        </p>
      )}
      {decisions.map((line) => (
        <p>{line}</p>
      ))}
      <RolloutActions run={run} />
      {batches.length > 0 && <Batches run={run} batches={batches} />}
      {[...gates]
        .filter(([, seen]) => seen.length > 0)
        .map(([batch, seen]) => (
          <SeenByGate run={run} batch={batch} seen={seen} />
        ))}
    </section>
  );
};

const Batches = ({ run, batches }: { run: Run; batches: readonly Batch[] }) => (
  <Table
    name="Batches"
    columns={(column) => [
      column('Batch', 'w-short', (batch) => batches.indexOf(batch) + 1),
      column('Takes', 'w-in', ({ takes }) => <Cut whole={takes} />),
      column('Targets', 'w-short end', ({ targets }) => number(targets)),
      column('State', 'w-badge', (batch) => <Badge word={stateOfBatch(run, batch)} />),
      column('Gate after it', '', (batch) => {
        const after = formatAfterBatch(batch).join(' ');
        return after === '' ? '–' : <Cut whole={after} />;
      }),
    ]}
    rows={batches}
    keyOf={(batch) => `batch ${batches.indexOf(batch)}`}
  />
);

const SeenByGate = ({ run, batch, seen }: { run: Run; batch: number; seen: readonly Seen[] }) => (
  <details open={seen.some(({ is }) => is !== 'healthy')}>
    <summary>What the gate after batch {batch} saw</summary>
    <Table
      name={`What the gate after batch ${batch} saw`}
      kind="detail"
      columns={(column) => [
        column('Target', 'w-target', ({ id, label }) => (
          <Cut whole={label} to={`${targetPath(run.account, id)}?run=${encodeURIComponent(run.id)}`} />
        )),
        column('Seen', 'w-badge', ({ is }) => <Badge word={is} />),
        column('Why', '', ({ why }) => (why === undefined ? '–' : <Cut whole={why} />)),
      ]}
      rows={seen}
      keyOf={({ id }) => `${batch} ${id}`}
    />
  </details>
);

/** What the reader may do now. */
const RolloutActions = ({ run }: { run: Run }) => {
  const may = useMay();
  const { status, rollout, ending, held } = run;
  const isOpen = status === 'running' && !ending && !held;
  if (status === 'awaiting-approval' && !ending && !held && !lastApproval(run)?.decided)
    return may('approver', run) ? (
      <p class="actions">
        <Action to={runPath(run.id, '/approve')}>Approve this run</Action>
        <Action to={runPath(run.id, '/reject')}>Reject this run</Action>
      </p>
    ) : null;
  if (!may('operator', run)) return null;
  const waits = rollout && ['pausing', 'asking', 'closed'].includes(rollout.is);
  const stopped = isFinal(status) && ending === 'gate-closed';
  if (!(isOpen && waits) && !stopped) return null;
  return (
    <p class="actions">
      {isOpen && rollout?.is === 'pausing' && <Action to={runPath(run.id, '/resume')}>Skip the pause</Action>}
      <Action to={runPath(run.id, stopped ? '/resume' : '/resume?ignore_gate=1')}>
        {stopped ? 'Run the rest' : 'Begin the next batch'}
      </Action>
    </p>
  );
};
