/** Schedules in words: `every day at 02:00`. */
import type { Schedule } from '../policy/policy.ts';

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
const NUMBER = /^\d+$/;
const EVERY = /^\*\/(\d+)$/;
const RANGE = /^(\d+)-(\d+)$/;

/**
 * The schedule in words, without its time zone. An expression of a form that has no words is written as it is;
 * undefined when none of them has any.
 */
export function scheduleInWords({ cron }: Pick<Schedule, 'cron'>): string | undefined {
  const all = cron.map((one) => ({ one, words: cronInWords(one) }));
  if (!all.some(({ words }) => words)) return undefined;
  return all.map(({ one, words }) => words ?? one).join('; ');
}

/** A cron expression in words; undefined for forms that have none. */
export function cronInWords(expression: string): string | undefined {
  const [minute = '', hour = '', day = '', month = '', weekday = '', more] = expression.trim().split(/ +/);
  if (month !== '*' || more !== undefined) return undefined;
  const on = daysInWords(day, weekday);
  const at = timesInWords(minute, hour);
  if (on === undefined || at === undefined) return undefined;
  if (at.isRepeated) return [at.text, on].filter(Boolean).join(', ');
  return `${on === '' ? 'every day' : on} at ${at.text}`;
}

/** Empty for every day. */
function daysInWords(day: string, weekday: string): string | undefined {
  if (day === '*' && weekday === '*') return '';
  if (day === '*') return weekdaysInWords(weekday);
  if (weekday !== '*') return undefined;
  if (day === 'L') return 'the last day of each month';
  const dates = day.split(',');
  if (!dates.every((date) => NUMBER.test(date))) return undefined;
  return `day ${list(dates)} of each month`;
}

function weekdaysInWords(weekday: string): string | undefined {
  const range = RANGE.exec(weekday);
  if (range) return `${days[Number(range[1])]} to ${days[Number(range[2])]}`;
  const names = weekday.split(',').map((one) => {
    if (NUMBER.test(one)) return days[Number(one)];
    return days.find((name) => name.toUpperCase() === one.toUpperCase());
  });
  if (names.some((name) => name === undefined)) return undefined;
  return `every ${list(names.map(String))}`;
}

/** `02:00 and 14:00`, or how often it is repeated. */
function timesInWords(minute: string, hour: string): { text: string; isRepeated: boolean } | undefined {
  const repeated = (text: string) => ({ text, isRepeated: true });
  const hours = RANGE.exec(hour);
  const within =
    hour === '*' ? '' : hours ? ` from ${clock(hours[1], 0)} to ${clock(hours[2], 59)}` : undefined;
  const [, minutes] = EVERY.exec(minute) ?? [];
  if (minutes !== undefined || minute === '*') {
    const every = minutes === undefined || minutes === '1' ? 'every minute' : `every ${minutes} minutes`;
    return within === undefined ? undefined : repeated(`${every}${within}`);
  }
  if (!NUMBER.test(minute)) return undefined;
  const past = Number(minute) === 0 ? '' : ` at :${minute.padStart(2, '0')}`;
  if (within !== undefined) return repeated(`every hour${past}${within}`);
  const [, everyHours] = EVERY.exec(hour) ?? [];
  if (everyHours !== undefined) return repeated(`every ${everyHours} hours${past}`);
  const times = hour.split(',');
  if (!times.every((one) => NUMBER.test(one))) return undefined;
  return { text: list(times.map((one) => clock(one, Number(minute)))), isRepeated: false };
}

const clock = (hour: string | undefined, minute: number): string =>
  `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;

/** `Mon, Wed and Fri`. */
const list = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
