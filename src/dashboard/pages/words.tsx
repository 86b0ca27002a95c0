/** How statuses, moments and spans are shown, the same on every page. */
import { isoTime } from '../../clock.ts';
import { endedCount } from '../../run/moves.ts';
import type { Counts, Run } from '../../run/run.ts';

/** A status or an outcome as a small coloured word; the colour is in the style sheet. */
export const Badge = ({ word }: { word: string }) => <span class={`badge is-${word}`}>{word}</span>;

/** A moment in UTC; `live.js` turns it into the reader's own time. */
export const Moment = ({ at }: { at: number | undefined }) =>
  at === undefined ? (
    <span class="dim">–</span>
  ) : (
    <time datetime={isoTime(at)}>{`${isoTime(at).slice(0, 16).replace('T', ' ')} UTC`}</time>
  );

/** A span in its two largest units: `1 h 4 min`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

/** How long a run has taken, or is taking. */
export const lengthOf = (run: Run, now: number): string =>
  run.startedAt === undefined ? '–' : span((run.finishedAt ?? now) - run.startedAt);

export const number = (count: number): string => count.toLocaleString('en-US');

const shown = ['succeeded', 'failed', 'skipped', 'cancelled'] as const;

/** `3 succeeded, 1 failed`: only what there is. */
export function countsLine(counts: Counts): string {
  const parts = shown
    .filter((outcome) => counts[outcome] > 0)
    .map((outcome) => `${number(counts[outcome])} ${outcome}`);
  return parts.join(', ') || 'nothing yet';
}

/** The outcomes of a run as one bar. Its widths are attributes of a drawing: inline style is not allowed here. */
export function Bar({ counts }: { counts: Counts }) {
  const width = Math.max(1, counts.planned);
  let x = 0;
  return (
    <svg
      class="bar"
      viewBox={`0 0 ${width} 1`}
      preserveAspectRatio="none"
      role="img"
      aria-label={barLabel(counts)}
    >
      {shown.map((outcome) => {
        const from = x;
        x += counts[outcome];
        return <rect class={`is-${outcome}`} x={from} y="0" width={counts[outcome]} height="1" />;
      })}
    </svg>
  );
}

const barLabel = (counts: Counts): string =>
  `${number(endedCount(counts))} of ${number(counts.planned)} targets have ended: ${countsLine(counts)}`;

/** The progress of a run under way in words. */
export const progressOf = ({ counts, planComplete }: Run): string =>
  planComplete
    ? `${number(endedCount(counts))} of ${number(counts.planned)}`
    : `${number(counts.planned)} targets so far`;
