import type { Child } from 'hono/jsx';
import { endedCount, shownCounts, shownOutcomes } from '../../run/moves.ts';
import type { Counts, Run } from '../../run/run.ts';

/** `512 MiB`, `1.5 GiB`. */
export const bytes = (count: number): string =>
  count >= 1024 ** 3
    ? `${(count / 1024 ** 3).toFixed(1)}\u00a0GiB`
    : `${Math.max(1, Math.round(count / 1024 ** 2))}\u00a0MiB`;

export const number = (count: number): string => count.toLocaleString('en-US');

/** `3 succeeded, 1 failed`, without zeros. */
export function countsLine(counts: Counts): string {
  const shown = shownCounts(counts);
  const parts = shownOutcomes
    .filter((outcome) => shown[outcome] > 0)
    .map((outcome) => `${number(shown[outcome])} ${outcome}`);
  return parts.join(', ') || (counts.planned > 0 ? 'none has ended yet' : 'no targets');
}

/** The outcomes of a run as one bar. Its widths are SVG attributes, since inline styles are not allowed. */
export function Bar({ counts }: { counts: Counts }) {
  const width = Math.max(1, counts.planned);
  const shown = shownCounts(counts);
  let x = 0;
  return (
    <svg
      class="bar"
      viewBox={`0 0 ${width} 1`}
      preserveAspectRatio="none"
      role="img"
      aria-label={barLabel(counts)}
    >
      {shownOutcomes.map((outcome) => {
        const from = x;
        x += shown[outcome];
        return <rect class={`is-${outcome}`} x={from} y="0" width={shown[outcome]} height="1" />;
      })}
    </svg>
  );
}

const barLabel = (counts: Counts): string =>
  `${number(endedCount(counts))} of ${number(counts.planned)} targets have ended: ${countsLine(counts)}`;

/** The progress of an active run in words. */
export const progressOf = ({ counts, planComplete }: Run): string =>
  planComplete
    ? `${number(endedCount(counts))} of ${number(counts.planned)}: ${countsLine(counts)}`
    : `${number(counts.planned)} targets so far`;

/** Numbers with their names, side by side. */
export const Stats = ({ children }: { children: Child }) => <dl class="stats">{children}</dl>;

interface StatProps {
  name: string;
  children: Child;
  /** What explains it: what it is compared with, since when. */
  hint?: Child;
  tone?: 'good' | 'warn' | 'bad' | 'busy';
}

export const Stat = ({ name, children, hint, tone }: StatProps) => (
  <div class={`stat card${tone ? ` is-${tone}` : ''}`}>
    <dt>{name}</dt>
    <dd>
      {children}
      {hint && <div class="hint">{hint}</div>}
    </dd>
  </div>
);

/** A value with its name, in a list of them; `moving`: it changes all the time, which is not marked. */
export const Fact = ({ name, moving, children }: { name: string; moving?: boolean; children: Child }) => (
  <div>
    <dt>{name}</dt>
    <dd data-moving={moving}>{children}</dd>
  </div>
);
