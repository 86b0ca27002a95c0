/** How many entries the queues had in each minute of the last hour. */
import { isoMinute } from '../../clock.ts';
import type { Depth } from '../../records/measurement-store.ts';
import { countOf } from '../../text.ts';
import { BarChart } from './chart.tsx';
import { Time } from './time.tsx';

const series = [
  { tone: 'series-1', word: 'actions' },
  { tone: 'series-2', word: 'plans' },
  { tone: 'series-3', word: 'deliveries' },
] as const;

export const QueueDepth = ({ minutes }: { minutes: readonly { at: number; depth?: Depth }[] }) => {
  const missing = minutes.filter(({ depth }) => depth === undefined).length;
  const ends = [minutes[0], minutes[Math.floor(minutes.length / 2)], minutes.at(-1)];
  return (
    <div class="card">
      <BarChart
        name="Entries that wait or are in work, in each minute of the last hour"
        series={series}
        columns={minutes.map(({ at, depth }) => ({
          label: depth ? isoMinute(at) : `${isoMinute(at)}, not measured`,
          counts: series.map(({ word }) => depth?.[word] ?? 0),
        }))}
        axis={ends.map((one) => one && <Time at={one.at} show="exact" />)}
        unit="entries"
      />
      <p class="dim small">
        Entries that wait or are in work, once a minute.
        {missing > 0 &&
          ` ${countOf(missing, 'minute')} of the last hour ${missing === 1 ? 'was' : 'were'} not measured.`}
      </p>
    </div>
  );
};
