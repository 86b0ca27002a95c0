import { shownStatus } from '../../run/moves.ts';
import { type Run, runStatuses } from '../../run/run.ts';
import { useNow } from './contexts.tsx';
import { span } from './time.tsx';

/** How many runs are in a strip. */
export const STRIP_RUNS = 20;
const [WIDTH, GAP, HEIGHT] = [8, 2, 24];
/** A run that took no time can still be seen. */
const MIN_HEIGHT = 4;

const tookMs = ({ startedAt, finishedAt }: Run, now: number): number =>
  startedAt === undefined ? 0 : (finishedAt ?? now) - startedAt;

/** The last runs of a policy, oldest first: the height is the duration, the colour the status. `runs`: newest first. */
export function RunStrip({ runs }: { runs: readonly Run[] }) {
  const now = useNow();
  const shown = runs.slice(0, STRIP_RUNS).reverse();
  const longest = Math.max(1, ...shown.map((run) => tookMs(run, now)));
  const empty = STRIP_RUNS - shown.length;
  return (
    <svg
      class="strip"
      viewBox={`0 0 ${STRIP_RUNS * WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={summaryOf(shown)}
    >
      {Array.from({ length: empty }, (_, index) => (
        <rect class="none" x={index * WIDTH} y={HEIGHT - 2} width={WIDTH - GAP} height={2} />
      ))}
      {shown.map((run, index) => {
        const took = tookMs(run, now);
        const height = Math.round(MIN_HEIGHT + (HEIGHT - MIN_HEIGHT) * (took / longest));
        return (
          <rect
            class={`is-${shownStatus(run)}`}
            x={(empty + index) * WIDTH}
            y={HEIGHT - height}
            width={WIDTH - GAP}
            height={height}
          >
            <title>{`${shownStatus(run)}, ${span(took)}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

function summaryOf(runs: readonly Run[]): string {
  if (runs.length === 0) return 'No runs yet';
  const counts = [...runStatuses, 'found' as const]
    .map((status) => ({ status, count: runs.filter((run) => shownStatus(run) === status).length }))
    .filter(({ count }) => count > 0)
    .map(({ status, count }) => `${count} ${status}`);
  return `The last ${runs.length === 1 ? 'run' : `${runs.length} runs`}: ${counts.join(', ')}`;
}
