/** A list of runs, one line each: progress, why it is as it is, and a box to select it. */
import type { ReasonCount } from '../../records/target-types.ts';
import { shownStatus } from '../../run/found.ts';
import { endedCount, isFinal } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import { runEndOf } from '../../run/run-end.ts';
import { Badge } from './badge.tsx';
import { useMay } from './contexts.tsx';
import { policyPath, runPath } from './paths.ts';
import { Bar, number } from './progress.tsx';
import { RunTook, whyOf } from './run-table.tsx';
import { type Column, Cut, DataTable } from './table.tsx';
import { Time } from './time.tsx';

const columns: readonly Column[] = [
  { head: 'Run', width: 'w-pick' },
  { head: 'Policy', width: 'w-name' },
  { head: 'Created', width: 'w-word' },
  { head: 'Progress', width: 'w-strip' },
  { head: 'Why' },
  { head: 'Trigger', width: 'w-word', wideOnly: true },
  { head: 'Took', width: 'w-word', end: true, middleOnly: true },
];

interface RunListProps {
  name: string;
  runs: readonly Run[];
  /** For each run, how many targets ended for which reason. */
  reasons: ReadonlyMap<string, readonly ReasonCount[]>;
  now: number;
}

/** Stands in a form; the selected runs are its parameters `run`. */
export const RunList = ({ name, runs, reasons, now }: RunListProps) => (
  <DataTable name={name} columns={columns} grows="runs">
    {runs.map((run) => (
      <RunLine run={run} reasons={reasons.get(run.id) ?? []} now={now} />
    ))}
  </DataTable>
);

const RunLine = ({ run, reasons, now }: { run: Run; reasons: readonly ReasonCount[]; now: number }) => {
  const why = lineOf(run, reasons);
  const end = runEndOf(run, now);
  return (
    <tr data-key={run.id}>
      <td data-label="Run">
        <span class="pick">
          {useMay()('operator', run) && (
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
      </td>
      <td data-label="Policy">
        <Cut whole={run.policy}>
          <a href={policyPath(run.policy)}>{run.policy}</a>
        </Cut>
      </td>
      <td data-label="Created">
        <Time at={run.createdAt} now={now} show="relative" />
      </td>
      <td data-label="Progress">
        <Progress run={run} />
      </td>
      <td data-label="Why">
        {(why || end?.at !== undefined) && (
          <Cut whole={why ?? ''}>
            {end?.at !== undefined && (
              <span class="dim">
                ends <Time at={end.at} now={now} show="relative" />
                {why && '; '}
              </span>
            )}
            {why}
          </Cut>
        )}
      </td>
      <td data-label="Trigger" class="wide-only">
        {run.trigger}
      </td>
      <td data-label="Took" class="end middle-only">
        <RunTook run={run} now={now} />
      </td>
    </tr>
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
