/** The predicted requests of each hour of a day against what the budget gives, for each account. */
import type { AccountLoad, Week } from '../queries/schedule.ts';
import { BarChart, seriesTones } from './chart.tsx';
import { number } from './progress.tsx';
import { clockIn } from './zoned.ts';

/** How many policies have a colour of their own. */
const MAX_SERIES = 5;
/** How many accounts have a chart: those with the most requests. */
const MAX_ACCOUNTS = 6;

export const LoadCharts = ({ week: { load, hours, unknownOnDay }, zone }: { week: Week; zone: string }) => {
  const drawn = load.filter(({ policies }) => policies.length > 0);
  if (hours.length === 0) return null;
  if (drawn.length === 0)
    return (
      <p class="dim">
        {unknownOnDay.length > 0
          ? 'The load is not known: no run of these policies has ended.'
          : 'No requests are predicted for the rest of the day.'}
      </p>
    );
  return (
    <div class="cards">
      {[...drawn]
        .sort((a, b) => totalOf(b) - totalOf(a))
        .slice(0, MAX_ACCOUNTS)
        .map((one) => (
          <div class="card">
            <h3>Load of {one.account}</h3>
            <Load load={one} hours={hours} zone={zone} />
          </div>
        ))}
    </div>
  );
};

const totalOf = ({ policies }: AccountLoad): number =>
  policies.reduce((all, { requests }) => all + requests.reduce((sum, count) => sum + count, 0), 0);

const Load = ({
  load: { account, perHour, policies },
  hours,
  zone,
}: {
  load: AccountLoad;
  hours: Week['hours'];
  zone: string;
}) => {
  const named = policies.slice(0, policies.length > MAX_SERIES + 1 ? MAX_SERIES : MAX_SERIES + 1);
  const others = policies.slice(named.length);
  const series = [
    ...named.map(({ policy }, index) => ({ tone: seriesTones[index] ?? 'none', word: policy })),
    ...(others.length > 0 ? [{ tone: 'none', word: `${others.length} other policies` }] : []),
  ];
  const columns = hours.map(({ from }, index) => ({
    label: clockIn(zone, from),
    counts: [
      ...named.map(({ requests }) => requests[index] ?? 0),
      ...(others.length > 0 ? [others.reduce((all, { requests }) => all + (requests[index] ?? 0), 0)] : []),
    ],
  }));
  const full = hours.filter(
    (_, index) => (columns[index]?.counts ?? []).reduce((a, b) => a + b, 0) > perHour,
  );
  const ends = [hours[0], hours[Math.floor(hours.length / 2)], hours.at(-1)];
  return (
    <>
      <BarChart
        name={`Predicted requests of ${account} by the hour`}
        series={series}
        columns={columns}
        axis={ends.map((hour) => hour && clockIn(zone, hour.from))}
        unit="requests"
        limit={{ value: perHour, word: 'can be spent' }}
      />
      <p class="dim small">
        {full.length === 0
          ? `At most ${number(perHour)} requests an hour can be spent; no hour needs more.`
          : `More than the ${number(perHour)} requests an hour that can be spent: ${full.map(({ from }) => clockIn(zone, from)).join(', ')}.`}
      </p>
    </>
  );
};
