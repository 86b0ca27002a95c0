/** What was spent of a budget over time, by class or by policy, with what other clients spent and the limit. */
import { isoMinute } from '../../clock.ts';
import type { AccountBudget } from '../queries/budget.ts';
import { type Series, StackedAreaChart, seriesTones } from './chart.tsx';
import { Time } from './time.tsx';

/** A class has the same colour on every page. */
export const classTones = {
  action: 'series-1',
  follow: 'series-2',
  person: 'series-3',
  record: 'series-4',
  control: 'series-5',
} as const;

/** How many policies have a colour of their own. */
const MAX_POLICIES = 6;
/** What follows work of several policies, and what people ask for. */
export const NO_POLICY = 'no single policy';

interface Props {
  budget: AccountBudget;
  by: 'class' | 'policy';
}

export const BudgetChart = ({ budget, by }: Props) => {
  const { account, buckets, limit, others } = budget;
  const parts = by === 'class' ? byClass(budget) : byPolicy(budget);
  const all = [
    ...parts,
    ...(others.known > 0
      ? [
          {
            series: { tone: 'none', word: 'other clients' },
            counts: buckets.map((bucket) => bucket.others ?? 0),
          },
        ]
      : []),
  ];
  const isHours = (buckets[0]?.ms ?? 0) > 60_000;
  const ends = [buckets[0], buckets[Math.floor(buckets.length / 2)], buckets.at(-1)];
  return (
    <StackedAreaChart
      name={`Requests of ${account} by ${by}, in each ${isHours ? 'hour' : 'minute'}`}
      series={all.map(({ series }) => series)}
      columns={buckets.map(({ at }, index) => ({
        label: isoMinute(at),
        counts: all.map(({ counts }) => counts[index] ?? 0),
      }))}
      axis={ends.map((one) => one && <Time at={one.at} show="exact" />)}
      unit={isHours ? 'requests an hour' : 'requests a minute'}
      limit={{ value: limit, word: 'limit' }}
    />
  );
};

interface Part {
  series: Series;
  counts: number[];
}

const byClass = ({ classes }: AccountBudget): Part[] =>
  classes.map(({ name, counts }) => ({ series: { tone: classTones[name], word: name }, counts }));

function byPolicy({ policies }: AccountBudget): Part[] {
  const named = policies.filter(({ name }) => name !== undefined);
  const shown = named.slice(0, named.length > MAX_POLICIES ? MAX_POLICIES - 1 : MAX_POLICIES);
  const rest = named.slice(shown.length);
  const none = policies.find(({ name }) => name === undefined);
  const add = (a: readonly number[], b: readonly number[]) => a.map((count, at) => count + (b[at] ?? 0));
  return [
    ...shown.map(({ name = '', counts }, index) => ({
      series: { tone: seriesTones[index] ?? 'none', word: name },
      counts,
    })),
    ...(rest.length > 0
      ? [
          {
            series: { tone: seriesTones[MAX_POLICIES - 1] ?? 'none', word: `${rest.length} other policies` },
            counts: rest.map(({ counts }) => counts).reduce(add),
          },
        ]
      : []),
    ...(none ? [{ series: { tone: 'dim', word: NO_POLICY }, counts: none.counts }] : []),
  ];
}
