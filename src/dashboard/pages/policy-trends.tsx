import type { Child } from 'hono/jsx';
import { isoMinute } from '../../clock.ts';
import { shownCounts, shownOutcomes, shownStatus } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import { countOf } from '../../text.ts';
import { BarChart, type Column, type Series } from '../components/chart.tsx';
import { Empty } from '../components/empty.tsx';
import { pathWith } from '../components/filter-bar.tsx';
import { policyPath } from '../components/paths.ts';
import { number, Stat, Stats } from '../components/progress.tsx';
import { span, Time } from '../components/time.tsx';
import {
  COMPARED,
  type Comparison,
  didWork,
  durationOf,
  type Trends,
  trendsOf,
} from '../queries/policy-trends.ts';
import { policyTab } from './policy.tsx';

const choices = [25, 50, 100];
const DEFAULT_RUNS = 50;
/** Charts of fewer runs have free room at their left, so that a bar is never wide. */
const MIN_BARS = 25;

/** Duration, targets, failures and requests of the last runs, and whether they get worse. */
export const showTrends = policyTab('Trends', async (c, { reader }, policy) => {
  const shown = choices.find((one) => String(one) === c.req.query('runs')) ?? DEFAULT_RUNS;
  const latest = await reader.runs({ policy: policy.name, limit: 2 * shown });
  const trends = trendsOf(policy, latest);
  const runs = latest.filter(didWork).slice(0, shown).reverse();
  const path = policyPath(policy.name, '/trends');
  if (runs.length === 0) {
    return (
      <section id="trends" class="tab" data-live>
        <Empty title="No run of this policy has done any work yet." icon="gauge">
          Duration, targets, failures and requests of its runs are compared here. Skipped and cancelled runs
          do not count.
        </Empty>
      </section>
    );
  }
  return (
    <section id="trends" class="tab" data-live>
      <Verdict trends={trends} />
      <Compared trends={trends} />
      <nav class="filters" aria-label="How many runs">
        {choices.map((count) => (
          <a
            href={pathWith(path, { runs: count === DEFAULT_RUNS ? undefined : String(count) })}
            {...(count === shown ? { 'aria-current': 'page' } : {})}
          >
            last {count} runs
          </a>
        ))}
        <span class="dim">{countOf(runs.length, 'run')} that did work, oldest first</span>
      </nav>
      <Charts runs={runs} />
    </section>
  );
});

/** The measures, with the word for more of them. */
const measures = [
  { of: 'durationMs', name: 'Duration', more: 'longer', less: 'shorter', worse: 'runs take longer' },
  { of: 'failedPercent', name: 'Failed targets', more: 'more', less: 'fewer', worse: 'more targets fail' },
  { of: 'requests', name: 'Requests', more: 'more', less: 'fewer', worse: 'runs send more requests' },
  { of: 'targets', name: 'Targets', more: 'more', less: 'fewer', worse: undefined },
] as const;
type Measure = (typeof measures)[number];

const figure = ({ of }: Measure, value: number): string => {
  if (of === 'durationMs') return span(value);
  if (of === 'failedPercent') return `${Math.round(value * 10) / 10}%`;
  return number(Math.round(value));
};

/** Whether it gets worse, in one sentence; that it is not known, as long as the figures do not show it. */
const Verdict = ({ trends }: { trends: Trends }) => {
  const needed = COMPARED.recent + COMPARED.min;
  if (!measures.some(({ of }) => trends[of]))
    return (
      <p class="calm">
        Whether it gets worse is not known yet: that takes {needed} scheduled runs that did work, and{' '}
        {trends.runs === 0 ? 'none is' : `${number(trends.runs)} ${trends.runs === 1 ? 'is' : 'are'}`} stored.
      </p>
    );
  const worse = measures.flatMap((one) => (trends[one.of]?.is === 'higher' ? (one.worse ?? []) : []));
  if (worse.length === 0)
    return <p class="calm">It does not get worse: neither duration, failures nor requests have grown.</p>;
  const targets = trends.targets;
  return (
    <p class="note is-warn">
      It gets worse: {worse.join(', ')} than before.
      {targets?.is === 'higher' &&
        ` The runs also have more targets: ${number(targets.recent)} instead of ${number(targets.before)}.`}
    </p>
  );
};

const Compared = ({ trends }: { trends: Trends }) => (
  <Stats>
    {measures.map((measure) => {
      const comparison = trends[measure.of];
      if (!comparison) return null;
      const isWorse = comparison.is === 'higher' && measure.worse !== undefined;
      return (
        <Stat
          name={measure.name}
          hint={hintOf(measure, comparison)}
          {...(isWorse ? { tone: 'warn' as const } : {})}
        >
          {figure(measure, comparison.recent)}
        </Stat>
      );
    })}
  </Stats>
);

function hintOf(measure: Measure, { before, runs, is }: Comparison): string {
  const change = is === 'same' ? 'no clear change' : is === 'higher' ? measure.more : measure.less;
  return `${change}: median of the last ${COMPARED.recent}; ${figure(measure, before)} in the ${runs} before`;
}

const statusSeries: readonly Series[] = ['succeeded', 'found', 'partial', 'failed', 'stopped'].map(
  (word) => ({
    tone: word,
    word,
  }),
);

const Charts = ({ runs }: { runs: readonly Run[] }) => {
  const columnsOf = (counts: (run: Run) => number[]): Column[] => {
    const empty = counts(runs[0] as Run).map(() => 0);
    const room = Array.from({ length: Math.max(0, MIN_BARS - runs.length) }, () => ({
      label: 'No run',
      counts: empty,
    }));
    return [...room, ...runs.map((run) => ({ label: isoMinute(run.createdAt), counts: counts(run) }))];
  };
  const byStatus = (value: (run: Run) => number) => (run: Run) =>
    statusSeries.map(({ word }) => (word === shownStatus(run) ? value(run) : 0));
  const ends = [runs[0], runs.at(-1)].map((run) => <Time at={run?.createdAt} show="exact" />);
  const axis: Child[] = runs.length < MIN_BARS ? ['', ends[1]] : ends;
  return (
    <div class="columns">
      <ChartCard title="Duration" hint="from the start of a run to its end, with what it waited for">
        <BarChart
          name="Duration of each run, by its status"
          series={statusSeries}
          columns={columnsOf(byStatus((run) => durationOf(run) ?? 0))}
          axis={axis}
          unit=""
          format={span}
        />
      </ChartCard>
      <ChartCard title="Targets" hint="by outcome">
        <BarChart
          name="Targets of each run, by outcome"
          series={shownOutcomes.map((word) => ({ tone: word, word }))}
          columns={columnsOf(({ counts }) => Object.values(shownCounts(counts)))}
          axis={axis}
          unit="targets"
        />
      </ChartCard>
      <ChartCard title="Failures" hint="targets that failed">
        <BarChart
          name="Failed targets of each run"
          series={[{ tone: 'failed', word: 'failed' }]}
          columns={columnsOf(({ counts }) => [shownCounts(counts).failed])}
          axis={axis}
          unit="targets"
        />
      </ChartCard>
      <ChartCard title="Requests" hint="planning, acting and following">
        <BarChart
          name="Requests of each run"
          series={[{ tone: 'busy', word: 'sent' }]}
          columns={columnsOf(({ requests }) => [requests])}
          axis={axis}
          unit="requests"
        />
      </ChartCard>
    </div>
  );
};

const ChartCard = ({ title, hint, children }: { title: string; hint: string; children: Child }) => (
  <section class="card" aria-label={title}>
    <div class="page-head">
      <h2>{title}</h2>
      <span class="dim">{hint}</span>
    </div>
    {children}
  </section>
);
