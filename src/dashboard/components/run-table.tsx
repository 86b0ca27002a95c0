/** A list of runs. */
import { shownCounts, shownStatus } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import { waitOf } from '../../run/run-end.ts';
import { Badge } from './badge.tsx';
import { policyPath, runPath } from './paths.ts';
import { countsLine, number } from './progress.tsx';
import { Table } from './table.tsx';
import { Sentence, Time, Took } from './time.tsx';

/** How long a run took, or has taken so far. */
export const RunTook = ({ run }: { run: Run }) => <Took from={run.startedAt} to={run.finishedAt} />;

/** The sentence to read first: why a run has its status, where its counts do not show it. */
export function whyOf(run: Run): string | undefined {
  const { status, detail, counts, planComplete } = run;
  if (detail !== undefined) return detail;
  const wait = waitOf(run);
  if (wait !== undefined) return `It ${wait}.`;
  if (status === 'partial' || (status === 'failed' && counts.failed > 0)) {
    const { found, failed } = shownCounts(counts);
    const of = number(counts.planned);
    const what = [
      ...(failed > 0 ? [`${number(failed)} of ${of} targets failed.`] : []),
      ...(found > 0 ? [`Something was found in ${number(found)} of ${of} targets.`] : []),
    ].join(' ');
    return status === 'partial' || found > 0 ? what : `Nothing succeeded: ${what}`;
  }
  if (status === 'succeeded' && planComplete && counts.planned === 0) {
    return 'Its plan was empty: no target was selected.';
  }
  return undefined;
}

/** `whyOf` as a paragraph. */
export const WhyLine = ({ run }: { run: Run }) => {
  const why = whyOf(run);
  return why === undefined ? null : (
    <p>
      <Sentence text={why} />
    </p>
  );
};

/** A table of runs: time, policy, outcome and why. */
export const RunTable = ({
  name,
  runs,
  withPolicy = true,
}: {
  name: string;
  runs: readonly Run[];
  withPolicy?: boolean;
}) => (
  <Table
    name={name}
    tall
    columns={(column) => [
      column('Run', 'w-run', (run) => (
        <a href={runPath(run.id)} class="plain">
          <Badge word={shownStatus(run)} /> <Time at={run.startedAt ?? run.createdAt} />
        </a>
      )),
      ...(withPolicy
        ? [column('Policy', 'w-name', ({ policy }) => <a href={policyPath(policy)}>{policy}</a>)]
        : []),
      column('Outcome', '', (run) => (
        <>
          <WhyLine run={run} />
          <p class="dim">{countsLine(run.counts)}</p>
        </>
      )),
      column('Trigger', 'w-word', ({ trigger }) => trigger),
      column('Took', 'w-word', (run) => <RunTook run={run} />),
    ]}
    rows={runs}
    keyOf={({ id }) => id}
  />
);
