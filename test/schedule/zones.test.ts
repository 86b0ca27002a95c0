/**
 * Properties of every time zone that Node knows, at every change of its clocks from 2020 to 2035; in `npm test` of some
 * zones in the first years, with a change of each length among them.
 */
import { createTask } from 'node-cron';
import { expect, test } from 'vitest';
import { localTimeOf, offsetAt } from '../../src/dates.ts';
import {
  nextScheduledTimes,
  previousScheduledTime,
  scheduledTimesBetween,
} from '../../src/schedule/cron-times.ts';
import { sampleOf } from '../support/sample.ts';

const MINUTE = 60_000;
const QUARTER = 15 * MINUTE;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const isAll = sampleOf(0, 1) === 1;
/** Two leap years are among them. */
const UNTIL_YEAR = isAll ? 2036 : 2025;
const [BEGIN, END] = [Date.UTC(2020, 0, 1), Date.UTC(UNTIL_YEAR, 0, 1)];
/** Morocco changes its clocks back for the month of Ramadan, which is the shortest such period. */
const STEP = 10 * DAY;

interface Change {
  at: number;
  before: number;
  after: number;
}

/** The changes of a zone's clocks: the first instants with a different offset. */
function changesOf(zone: string): Change[] {
  const changes: Change[] = [];
  let before = offsetAt(zone, BEGIN);
  for (let end = BEGIN + STEP; end < END + STEP; end += STEP) {
    const after = offsetAt(zone, end);
    if (after === before) continue;
    let [from, at] = [end - STEP, end];
    while (at - from > 1000) {
      const middle = Math.floor((from + at) / 2000) * 1000;
      if (offsetAt(zone, middle) === before) from = middle;
      else at = middle;
    }
    changes.push({ at, before, after });
    before = after;
  }
  return changes;
}

const some = [
  ...['Europe/Berlin', 'America/New_York', 'America/Santiago', 'America/St_Johns', 'Australia/Lord_Howe'],
  ...['Antarctica/Troll', 'Antarctica/Casey', 'Africa/Casablanca', 'Pacific/Auckland', 'Asia/Kolkata', 'UTC'],
];
/** One zone of each kind: zones whose clocks always show the same time are of one kind. */
const kinds = new Map<string, { zone: string; changes: Change[] }>();
for (const zone of isAll ? Intl.supportedValuesOf('timeZone') : some) {
  const changes = changesOf(zone);
  const kind = `${offsetAt(zone, BEGIN)} ${changes.map(({ at, after }) => `${at} ${after}`).join()}`;
  if (!kinds.has(kind)) kinds.set(kind, { zone, changes });
}
const allChanges = [...kinds.values()].flatMap(({ zone, changes }) =>
  changes.map((change) => ({ zone, ...change })),
);

interface Rule {
  gap: 'shift' | 'skip';
  overlap: 'first' | 'last' | 'both';
}
/** The defaults of a schedule. */
const usual: Rule = { gap: 'shift', overlap: 'first' };
const rules: Rule[] = (['shift', 'skip'] as const).flatMap((gap) =>
  (['first', 'last', 'both'] as const).map((overlap) =>
    gap === 'shift' && overlap === 'first' ? usual : { gap, overlap },
  ),
);

/** The times of day around a change: before, within and after what is skipped or repeated. */
function timesAround({ at, before, after }: Change): number[] {
  // In Casey, clocks once changed at a minute past midnight.
  const quarter = Math.ceil(at / QUARTER) * QUARTER;
  const [low, high] = [quarter + Math.min(before, after), quarter + Math.max(before, after)];
  const middle = low + Math.floor((high - low) / 2 / QUARTER) * QUARTER;
  return [low - HOUR, low, middle, high, high + HOUR].map((wall) => ((wall % DAY) + DAY) % DAY);
}

interface Quarter {
  moment: number;
  wall: number;
}

/** The quarter hours around a change, and what the clocks show at each. */
const quartersAround = (zone: string, at: number): Quarter[] =>
  Array.from({ length: 4 * 24 }, (_, index) => {
    const moment = Math.ceil(at / QUARTER) * QUARTER + (index - 48) * QUARTER;
    return { moment, wall: moment + offsetAt(zone, moment) };
  });

const daily = (time: number) => `${(time / MINUTE) % 60} ${Math.floor(time / HOUR)} * * *`;

test('the zones include changes of clocks of every kind', () => {
  expect(kinds.size).toBeGreaterThan(isAll ? 50 : 10);
  expect(allChanges.length).toBeGreaterThan(isAll ? 1_000 : 60);
  const lengths = new Set(allChanges.map(({ before, after }) => (after - before) / MINUTE));
  expect([...lengths]).toEqual(expect.arrayContaining([60, -60, 30, -30, 120, -120]));
});

/** The scheduled times of a daily time around a change, counted on the clock. */
function counted(
  time: number,
  change: Change,
  quarters: readonly Quarter[],
  { gap, overlap }: Rule,
): number[] {
  const [first, last] = quarters.filter(({ wall }) => wall % DAY === time).map(({ moment }) => moment);
  if (first === undefined) return gap === 'shift' && isSkipped(time, change) ? [change.at] : [];
  if (last === undefined) return [first];
  return { first: [first], last: [last], both: [first, last] }[overlap];
}

test('in every zone, a time that is skipped or repeated fires as its rule defines, and every other time once', () => {
  allChanges.forEach(({ zone, ...change }, index) => {
    const quarters = quartersAround(zone, change.at);
    const [from, until] = [quarters[0]?.moment ?? 0, quarters.at(-1)?.moment ?? 0];
    for (const [turn, time] of timesAround(change).entries()) {
      const dst = rules[(index + turn) % rules.length] ?? usual;
      const schedule = { cron: [daily(time)], timezone: zone, ...(dst === usual ? {} : { dst }) };
      const told = `${schedule.cron} in ${zone} at ${iso(change.at)}, ${dst.gap} ${dst.overlap}`;
      expect(scheduledTimesBetween(schedule, from - 1, until), told).toEqual(
        counted(time, change, quarters, dst),
      );
    }
  });
});

/** Whether the change skips a time of day. */
function isSkipped(time: number, { at, before, after }: Change): boolean {
  const beginning = (((at + before) % DAY) + DAY) % DAY;
  return (((time - beginning) % DAY) + DAY) % DAY < after - before;
}

/** One change of each kind for each zone: changes that repeat every year are checked once. */
const kindsOfChange = [
  ...new Map(allChanges.map((one) => [`${one.zone} ${one.before} ${one.after}`, one])).values(),
];

test('in every zone, searching forwards and backwards finds the same scheduled times, in order', () => {
  kindsOfChange.forEach(({ zone, ...change }, index) => {
    const dst = rules[index % rules.length] ?? usual;
    const times = timesAround(change).map(daily);
    const schedule = { cron: [...times.slice(1, 3), '45 0-5 * * *', '20 */2 * * *'], timezone: zone, dst };
    const [from, until] = [change.at - 3 * HOUR, change.at + 3 * HOUR];
    const moments = scheduledTimesBetween(schedule, from, until);
    const told = `in ${zone} at ${iso(change.at)}, ${dst.gap} ${dst.overlap}`;
    expect(nextScheduledTimes(schedule, from, moments.length), told).toEqual(moments);
    for (const [place, next] of moments.entries()) {
      const moment = moments[place - 1];
      if (moment === undefined) continue;
      expect(next, told).toBeGreaterThan(moment);
      expect(nextScheduledTimes(schedule, moment, 1), told).toEqual([next]);
      expect(previousScheduledTime(schedule, next), told).toBe(moment);
    }
  });
});

test('in every zone, hourly intervals continue in real time, whatever the rule', () => {
  for (const [index, { zone, ...change }] of kindsOfChange.entries()) {
    const dst = rules[index % rules.length] ?? usual;
    const schedule = { cron: ['*/15 * * * *'], timezone: zone, dst };
    const middle = Math.ceil(change.at / QUARTER) * QUARTER;
    const quarters = Array.from({ length: 16 }, (_, at) => middle + (at - 8) * QUARTER);
    expect(scheduledTimesBetween(schedule, middle - 8 * QUARTER - 1, middle + 7 * QUARTER), zone).toEqual(
      quarters,
    );
  }
});

test('in every zone, every quarter hour occurs when its clocks show it', () => {
  for (const { zone, changes } of kinds.values()) {
    // Away from changes, one day per year is enough.
    const days = [
      ...changes.map(({ at }) => at),
      ...Array.from({ length: UNTIL_YEAR - 2020 }, (_, y) => Date.UTC(2020 + y, 5, 30)),
    ];
    for (const at of days) {
      for (const { moment, wall } of quartersAround(zone, at).filter((_, i) => i % 8 === 0)) {
        const coming = localTimeOf(zone, wall);
        const times =
          coming.is === 'once' ? [coming.at] : coming.is === 'twice' ? [coming.first, coming.last] : [];
        expect(times, `${zone} ${new Date(moment).toISOString()}`).toContain(moment);
      }
    }
  }
});

test.each([
  '0 0 29 2 *',
  '30 6 L * *',
  '0 0 L 2 *',
  '0 9 * * 1#1',
  '0 9 * * 5#3',
  '0 9 * * 5L',
  '0 0 13 * 5',
  '0 0 1-7 * 1',
  '0 0 31 * *',
  '0 0 */10 * *',
  '15 3 * * 0,6',
  '15 3 * * 7',
  '0 0 1 */3 *',
  '0 12 1,15 1-6 MON-FRI',
])('%s fires on the same days as in node-cron, for years', (expression) => {
  const [minute = 0, hour = 0] = expression.split(' ').map(Number);
  const task = createTask(expression, () => undefined, { timezone: 'UTC' });
  try {
    const days: number[] = [];
    for (let day = BEGIN + hour * HOUR + minute * MINUTE; day < END; day += DAY)
      if (task.match(new Date(day))) days.push(day);

    expect(days.length).toBeGreaterThan(0);
    const found = scheduledTimesBetween({ cron: [expression], timezone: 'UTC' }, BEGIN - 1, END - 1);
    expect(found.map(iso)).toEqual(days.slice(-2_000).map(iso));
  } finally {
    void task.destroy();
  }
});

const iso = (moment: number) => new Date(moment).toISOString();
