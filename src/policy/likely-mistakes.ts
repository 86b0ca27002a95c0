/** Policies that are valid in form and probably not what their author wants: remarks with suggestions. */
import { Cron } from 'croner';
import { DAY_MS, isoDay } from '../dates.ts';
import { weekdays } from '../yaml/days.ts';
import type { Path, Remark } from '../yaml/yaml-file.ts';
import type { Blackout, blackoutMoves } from './policy.ts';
import type { PolicyEntry } from './policy-file.ts';
import { type Calendars, toBlackout } from './to-policy.ts';

// Finds schedules whose times are all on days of their blackout.

/** The number of days with a scheduled time that are checked: over a month of a daily schedule. */
const DAYS = 40;

/**
 * `always`: its weekdays are all blacked out. `until`: its next 40 days are all blacked out, and `day` is the
 * last of them. Undefined: it has a time outside its blackout.
 */
export type BlackedOut = { is: 'always' } | { is: 'until'; day: string };

/** Costs a fraction of a millisecond for each day, and nothing without a blackout. */
export function alwaysBlackedOut(
  crons: readonly string[],
  blackout: readonly Blackout[],
  onBlackout: 'skip' | (typeof blackoutMoves)[number],
  now: number,
): BlackedOut | undefined {
  if (blackout.length === 0) return undefined;
  const days = crons.flatMap((cron) => daysOf(cron, now));
  const isOut = (kinds: readonly Blackout[]) => (day: number) =>
    kinds.some((one) => ('weekday' in one ? one.weekday === weekdayOf(day) : isWithin(one, day)));
  if (days.length === 0 || !days.every(isOut(blackout))) return undefined;
  const isAlwaysOut = isOut(blackout.filter((one) => 'weekday' in one));
  if (onBlackout === 'skip') {
    if (days.every(isAlwaysOut)) return { is: 'always' };
  } else {
    const today = Math.floor(now / DAY_MS);
    const step = onBlackout === 'next_workday' ? 1 : -1;
    const moved = days.flatMap((day) => workdayFrom(day, step, isOut(blackout)) ?? []);
    if (moved.some((day) => day >= today && day <= Math.max(...days))) return undefined;
    if (workdayFrom(today, 1, isAlwaysOut) === undefined) return { is: 'always' };
  }
  return { is: 'until', day: isoDay(Math.max(...days) * DAY_MS) };
}

/** The next days on which an expression has a time, today included, as days since 1970. */
function daysOf(expression: string, now: number): number[] {
  const cron = new Cron(expression, { mode: '5-part', utcOffset: 0, paused: true, domAndDow: true });
  const days: number[] = [];
  for (let from = Math.floor(now / DAY_MS) * DAY_MS; days.length < DAYS; ) {
    const next = cron.nextRun(new Date(from - 1));
    if (!next) break;
    const day = Math.floor(next.getTime() / DAY_MS);
    days.push(day);
    from = (day + 1) * DAY_MS;
  }
  return days;
}

/** The nearest day from Monday to Friday that is not blacked out. */
function workdayFrom(day: number, step: 1 | -1, isOut: (day: number) => boolean): number | undefined {
  for (let far = 0; far <= 2 * DAYS; far += 1) {
    const found = day + far * step;
    if (!isOut(found) && !['saturday', 'sunday'].includes(weekdayOf(found) ?? '')) return found;
  }
  return undefined;
}

const weekdayOf = (day: number) => weekdays[(day + 4) % 7];
const isWithin = ({ from, to }: { from: string; to: string }, day: number): boolean =>
  from <= isoDay(day * DAY_MS) && isoDay(day * DAY_MS) <= to;

/** Where numbers are sent as text, so that YAML must not change them. */
const textPlaces = (entry: unknown): Path[] => {
  const { steps } = (entry ?? {}) as { steps?: unknown };
  return [
    ['select', 'filters'],
    ['select', 'for_each', 'filters'],
    ['select', 'join'],
    ['with', 'params'],
    ...(Array.isArray(steps) ? steps.map((_, i): Path => ['steps', i, 'with', 'params']) : []),
  ];
};

/** Numbers whose value in YAML differs from their text: YAML reads `8.10` as 8.1, and `012` as 12. */
export function misreadNumbers(
  entry: unknown,
  sourceOf: (path: Path) => string | undefined,
): [Path, Remark][] {
  const numbersIn = (value: unknown, at: Path): [Path, number][] => {
    if (typeof value === 'number') return [[at, value]];
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, inner]) =>
      numbersIn(inner, [...at, Array.isArray(value) ? Number(key) : key]),
    );
  };
  return textPlaces(entry).flatMap((place) => {
    const held = place.reduce<unknown>(
      (at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
      entry,
    );
    return numbersIn(held, place).flatMap(([at, number]): [Path, Remark][] => {
      const source = sourceOf(at);
      if (source === undefined || source === String(number)) return [];
      const message = `Without quotes, ${source} is the number ${number}.`;
      return [[at, { message, suggestion: `quote it: "${source}"` }]];
    });
  });
}

/**
 * A remark when every time of the schedule is on a day of its blackout. It is certain when that is so
 * forever, and a warning when it is so for the days that were checked.
 */
export function blackoutRemark(
  { schedule }: { schedule?: Partial<NonNullable<PolicyEntry['schedule']>> | undefined },
  calendars: Calendars,
  now: number,
): (Remark & { certain: boolean }) | undefined {
  const { cron, blackout: entries, on_blackout: onBlackout = 'skip' } = schedule ?? {};
  if (cron === undefined || entries === undefined) return undefined;
  const blackout = entries.flatMap((one) => toBlackout(one, calendars));
  const found = alwaysBlackedOut([cron].flat(), blackout, onBlackout, now);
  if (!found) return undefined;
  const certain = found.is === 'always';
  const until = certain ? '' : ` until ${found.day}`;
  return {
    at: 'key',
    certain,
    message: `The policy never fires${until}: every time of the schedule is on a day of "blackout".`,
    suggestion: certain
      ? 'remove a weekday from it, or set "enabled: false" to switch the schedule off'
      : undefined,
  };
}

interface Limited {
  select?: { limit?: number | undefined };
  limits?: { max_targets?: number };
}

/** Remarks on the keys that only scheduled runs have, of a policy without a schedule. */
export const uselessTimes = (
  policy: Partial<Pick<PolicyEntry, 'deadline' | 'window' | 'schedule'>>,
): [key: string, Remark][] =>
  policy.schedule !== undefined
    ? []
    : (['deadline', 'window'] as const)
        .filter((key) => policy[key] !== undefined)
        .map((key) => [
          key,
          {
            at: 'key',
            message: `"${key}" has no effect, because only scheduled runs have one, and the policy has no schedule.`,
            suggestion: 'add a schedule, or remove it',
          },
        ]);

/** A plan larger than `max_targets` stops the run before a larger `limit` applies. */
export function uselessLimit({ select, limits }: Limited): Remark[] {
  const [limit, most] = [select?.limit, limits?.max_targets];
  if (limit === undefined || most === undefined || limit <= most) return [];
  return [
    {
      message: `The limit of ${limit} is above limits.max_targets (${most}): a plan of more than ${most} targets stops the run, so the limit never applies.`,
      suggestion: `set max_targets to ${limit} or more, or reduce the limit`,
    },
  ];
}

// Days of a cron expression that come more rarely than the expression looks: valid, and often not what is meant.

/** Weekdays and dates repeat after this many years. */
const CYCLE_YEARS = 28;
const YEAR_MS = 365.25 * DAY_MS;
const START = Date.UTC(2029, 0, 1);

/** What the days of an expression mean; undefined when they need no words. Costs some 10 ms for rare days. */
export function rareDays(expression: string): Remark | undefined {
  const [, , day = '', month = '', weekday = ''] = expression.trim().split(/\s+/);
  const isAny = (field: string) => /^[*?]$/.test(field);
  if (isAny(day)) return undefined;
  if (isAny(weekday)) return missingDate(day, month);
  const often = daysPerYear(`0 0 ${day} ${month} ${weekday}`);
  if (often === 0) return undefined;
  const words = often < 0.75 ? `in ${Math.round(1 / often)} years` : 'a year';
  const count = often < 1.5 ? 'one day' : `${Math.round(often)} days`;
  return {
    message: `The day of month and the day of week both have to match, on about ${count} ${words}.`,
    suggestion: 'to fire on either, write two expressions as a list',
  };
}

/** A date that some months do not have. */
function missingDate(day: string, month: string): Remark | undefined {
  const dates = day.split(',').map((item) => Number(/^(\d+)W?$/i.exec(item)?.[1] ?? 0));
  const date = Math.max(...dates);
  if (date < 29) return undefined;
  const firsts = calendar(`0 0 1 ${month} *`).nextRuns(12, new Date(START - 1));
  const lengths = firsts
    .filter((first) => first.getTime() < START + 365 * DAY_MS)
    .map((first) => new Date(Date.UTC(2029, first.getUTCMonth() + 1, 0)).getUTCDate());
  const having = lengths.filter((length) => length >= date).length;
  if (having === lengths.length) return undefined;
  const leap = date === 29 ? ', and in February of leap years' : '';
  return {
    message: `Day ${date} exists in ${having} months of ${lengths.length}${leap}.`,
    suggestion: 'L is the last day of every month',
  };
}

function daysPerYear(expression: string): number {
  const most = 240;
  const days = calendar(expression).nextRuns(most, new Date(START - 1));
  const isDense = days.length === most;
  const until = isDense ? (days.at(-1)?.getTime() ?? 0) : START + CYCLE_YEARS * YEAR_MS;
  return days.filter((one) => one.getTime() <= until).length / ((until - START) / YEAR_MS);
}

const calendar = (expression: string): Cron =>
  new Cron(expression, { mode: '5-part', utcOffset: 0, paused: true, domAndDow: true });
