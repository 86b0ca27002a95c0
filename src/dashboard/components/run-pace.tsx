/** The progress of a run: its rate, its expected end, and its targets over time. */
import { useContext } from 'hono/jsx';
import { isoTime } from '../../clock.ts';
import { isFinal, shownOutcome, shownOutcomes } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import { type End, MAX_ENDS, type Pace } from '../queries/pace.ts';
import { BarChart } from './chart.tsx';
import { ReasonsContext, useNow, useRunEnd } from './contexts.tsx';
import { number } from './progress.tsx';
import { Sentence, span, Time } from './time.tsx';

/** `12 a minute over the last 10 min. It ends in about 3 min.` For what it waits stands at the head of its page. */
export const PaceLine = ({ run, pace }: { run: Run; pace: Pace }) => {
  const { perMinute, overMs } = pace;
  if (isFinal(run.status)) {
    return perMinute === undefined ? null : <p class="dim">{rateText(perMinute)} on average.</p>;
  }
  const end = useRunEnd(run);
  return (
    <p>
      {perMinute !== undefined && overMs !== undefined
        ? `${rateText(perMinute)} over the last ${span(overMs)}. `
        : run.startedAt !== undefined && 'No target has ended in the last minutes. '}
      {end === 'stopped' && 'When it ends is not known: work has stopped.'}
      {typeof end === 'number' && (
        <>
          It ends <Time at={end} show="relative" />, at the pace until now.
        </>
      )}
    </p>
  );
};

const rateText = (perMinute: number): string => {
  const figure = perMinute >= 10 ? number(Math.round(perMinute)) : perMinute.toFixed(1);
  return `${figure} ${figure === '1.0' ? 'target' : 'targets'} a minute`;
};

const BARS = 48;
/** Fewer targets than that are seen at once in the list. */
const MIN_TARGETS = 5;
const series = shownOutcomes.map((word) => ({ tone: word, word }));

/** The axis of a shorter run has seconds, so that its ends differ. */
const SHORT_MS = 10 * 60_000;

const toSecond = (at: number): string => `${isoTime(at).slice(0, 19).replace('T', ' ')}Z`;

/** Begin, middle and end, without those in the same second. */
const axisOf = (from: number, to: number): number[] =>
  [from, (from + to) / 2, to].filter(
    (at, index, all) => index === 0 || Math.floor(at / 1000) !== Math.floor((all[index - 1] ?? 0) / 1000),
  );

/** How many targets ended when, by outcome. */
export const EndsChart = ({ run, ends }: { run: Run; ends: readonly End[] | undefined }) => {
  if (run.counts.planned < MIN_TARGETS || run.startedAt === undefined) return null;
  if (ends === undefined) {
    return <p class="dim">Targets over time are shown for runs of at most {number(MAX_ENDS)} targets.</p>;
  }
  // What ended while the run was planned ended at one moment.
  if (ends.filter(({ worked }) => worked).length < MIN_TARGETS) return null;
  const from = run.startedAt;
  const to = Math.max(run.finishedAt ?? useNow(), from + 1);
  const width = (to - from) / BARS;
  const columns = Array.from({ length: BARS }, (_, at) => ({
    label: toSecond(from + at * width),
    counts: series.map(() => 0),
  }));
  const known = useContext(ReasonsContext);
  for (const { at, outcome, reason } of ends) {
    const counts = columns[Math.min(BARS - 1, Math.max(0, Math.floor((at - from) / width)))]?.counts;
    const index = shownOutcomes.indexOf(shownOutcome(known, outcome, reason));
    if (counts) counts[index] = (counts[index] ?? 0) + 1;
  }
  return (
    <BarChart
      name="Targets that ended, over time"
      series={series}
      columns={columns}
      axis={axisOf(from, to).map((at) =>
        to - from < SHORT_MS ? <Sentence text={toSecond(at)} /> : <Time at={at} show="exact" />,
      )}
      unit="targets"
    />
  );
};
