/** A list of runs, one line each: progress, why it is as it is, and a box to select it. */
import type { ReasonCount } from '../../records/target-types.ts';
import { endedCount, isFinal, shownStatus } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import { Badge } from './badge.tsx';
import { useMay, useRunEnd } from './contexts.tsx';
import { policyPath, runPath } from './paths.ts';
import { Bar, number } from './progress.tsx';
import { RunTook, whyOf } from './run-table.tsx';
import { Cut, Table } from './table.tsx';
import { Time } from './time.tsx';

interface RunListProps {
  name: string;
  runs: readonly Run[];
  /** For each run, how many targets ended for which reason. */
  reasons: ReadonlyMap<string, readonly ReasonCount[]>;
}

/** Stands in a form; the selected runs are its parameters `run`. */
export const RunList = ({ name, runs, reasons }: RunListProps) => {
  const may = useMay();
  return (
    <Table
      name={name}
      grows="runs"
      columns={(column) => [
        column('Run', 'w-pick', (run) => (
          <span class="pick">
            {may('operator', run) && (
              <label>
                <input type="checkbox" name="run" value={run.id} autocomplete="off" />
                <span class="unseen">Select {run.id}</span>
              </label>
            )}
            <a href={runPath(run.id)} class="plain" title={run.id}>
              <Badge word={shownStatus(run)} />
              <span class="unseen"> {run.id}</span>
            </a>
          </span>
        )),
        column('Policy', 'w-name', ({ policy }) => <Cut whole={policy} to={policyPath(policy)} />),
        column('Created', 'w-word', ({ createdAt }) => <Time at={createdAt} show="relative" />),
        column('Progress', 'w-strip', (run) => <Progress run={run} />),
        column('Why', '', (run) => <WhyCell run={run} reasons={reasons.get(run.id) ?? []} />),
        column('Trigger', 'w-word wide-only', ({ trigger }) => trigger),
        column('Took', 'w-word end middle-only', (run) => <RunTook run={run} />),
      ]}
      rows={runs}
      keyOf={({ id }) => id}
    />
  );
};

const WhyCell = ({ run, reasons }: { run: Run; reasons: readonly ReasonCount[] }) => {
  const why = lineOf(run, reasons);
  const end = useRunEnd(run);
  if (why === undefined && end === undefined) return null;
  return (
    <Cut whole={why ?? ''}>
      {end !== undefined && (
        <span class="dim">
          {end === 'stopped' ? (
            'work has stopped'
          ) : (
            <>
              ends <Time at={end} show="relative" />
            </>
          )}
          {why && '; '}
        </span>
      )}
      {why}
    </Cut>
  );
};

/** How many of its targets have ended, as a bar and in figures. */
export const Progress = ({ run: { counts, planComplete, status } }: { run: Run }) => {
  if (counts.planned === 0) return <span class="dim">{isFinal(status) ? 'no targets' : '–'}</span>;
  return (
    <span class="thin" data-moving>
      <Bar counts={counts} />
      <span>
        {planComplete || isFinal(status)
          ? `${number(endedCount(counts))} / ${number(counts.planned)}`
          : `${number(counts.planned)}…`}
      </span>
    </span>
  );
};

/** Why it is as it is. That targets failed is in its bar, so the reasons stand in place of that. */
function lineOf(run: Run, reasons: readonly ReasonCount[]): string | undefined {
  const failures = failuresLine(reasons);
  // Where there are reasons, they say more than the counts.
  const says = failures === '' || run.detail !== undefined || !isFinal(run.status) ? whyOf(run) : undefined;
  return [says, failures].filter(Boolean).join(' ') || undefined;
}

/** `14 timeout, 2 task-failed`: why targets failed, the most frequent reason first. */
export const failuresLine = (reasons: readonly ReasonCount[]): string =>
  reasons
    .filter(({ outcome }) => outcome === 'failed')
    .sort((a, b) => b.count - a.count)
    .map(({ reason, count }) => `${number(count)} ${reason}`)
    .join(', ');
