import type { Severity } from '../../records/finding-words.ts';
import type { FindingTrend } from '../../records/open-findings-store.ts';

const [WIDTH, GAP, HEIGHT] = [5, 1, 24];
const MIN_HEIGHT = 2;

/** How many findings were open on each of the last days, the oldest first. A day of which nothing is known is a line. */
export function FindingTrendStrip({ trend, severity }: { trend: FindingTrend; severity: Severity }) {
  const most = Math.max(1, ...trend.map((count) => count ?? 0));
  return (
    <svg
      class="strip"
      viewBox={`0 0 ${trend.length * WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={summaryOf(trend)}
    >
      <title>{summaryOf(trend)}</title>
      {trend.map((count, index) => {
        const height =
          count === undefined || count === 0
            ? MIN_HEIGHT
            : Math.round(MIN_HEIGHT + (HEIGHT - MIN_HEIGHT) * (count / most));
        return (
          <rect
            class={count ? `is-${severity}` : 'none'}
            x={index * WIDTH}
            y={HEIGHT - height}
            width={WIDTH - GAP}
            height={height}
          />
        );
      })}
    </svg>
  );
}

function summaryOf(trend: FindingTrend): string {
  const known = trend.filter((count) => count !== undefined);
  const [first] = known;
  const last = known.at(-1);
  if (first === undefined || last === undefined) return 'How many were open earlier is not known';
  const days = known.length === 1 ? 'today' : `over the last ${known.length} days`;
  return `Open ${days}: from ${first} to ${last}, at most ${Math.max(...known)}`;
}
