/** The service's own time, which may run faster than the clock it is derived from. */
import type { Clock } from '../../clock.ts';
import { isoDay } from '../../dates.ts';
import type { Agenda, Entry, Recurrence } from '../model/tasks.ts';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/**
 * Starts the service's time at `from`, by default the clock's current time; it runs `speed` times as fast.
 */
export function serviceTime(clock: Clock, speed: number, from: number = clock.now()): () => number {
  const startedAt = clock.now();
  return () => Math.floor(from + (clock.now() - startedAt) * speed);
}

/** The first time after `at` with this time of day (`02:30Z` or `02:30:00Z`). */
export function nextTimeOfDay(timeOfDay: string, at: number): number {
  const today = Date.parse(`${isoDay(at)}T${timeOfDay}`);
  return today > at ? today : today + DAY;
}

// When a recurring item is due (spec 2.8, 2.13): counted in UTC from its start, whose time of day it keeps.

const everyDays: Partial<Record<Recurrence, number>> = { daily: 1, weekly_on_day: 7, biweekly: 14 };

/** The first occurrence after `after`, and not before `startedAt`. */
export function nextOccurrence(recurrence: Recurrence, startedAt: number, after: number): number {
  const from = Math.max(startedAt, after + 1);
  const days = everyDays[recurrence];
  if (days !== undefined) return startedAt + Math.ceil((from - startedAt) / (days * DAY)) * days * DAY;
  const start = new Date(startedAt);
  const ahead = monthsBetween(start, new Date(from));
  // The occurrence in a month may be before `from`; then the next month counts.
  for (let month = ahead; ; month += 1) {
    const at = inMonth(recurrence, start, month);
    if (at >= from) return at;
  }
}

const monthsBetween = (start: Date, end: Date): number =>
  (end.getUTCFullYear() - start.getUTCFullYear()) * 12 + end.getUTCMonth() - start.getUTCMonth();

/** The occurrence in the month that is `months` after that of `start`. */
function inMonth(recurrence: Recurrence, start: Date, months: number): number {
  const [year, month] = [start.getUTCFullYear(), start.getUTCMonth() + months];
  const timeOfDay = start.getTime() % DAY;
  const lastDate = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const dates: Partial<Record<Recurrence, () => number>> = {
    // In a month that is too short, it is due on the last day.
    monthly_on_date: () => Math.min(start.getUTCDate(), lastDate),
    monthly_on_week: () => sameWeekday(start, Date.UTC(year, month, 1), lastDate),
  };
  const date = dates[recurrence]?.() ?? lastDate;
  return Date.UTC(year, month, date) + timeOfDay;
}

/**
 * The date with the same weekday and week as `start`, such as the third Tuesday. A missing fifth one becomes
 * the last.
 */
function sameWeekday(start: Date, firstOfMonth: number, lastDate: number): number {
  const week = Math.floor((start.getUTCDate() - 1) / 7);
  const first = ((start.getUTCDay() - new Date(firstOfMonth).getUTCDay() + 7) % 7) + 1;
  const date = first + week * 7;
  return date > lastDate ? date - 7 : date;
}

// What will happen in the world by itself, in order of time.
//
// There are no timers: the first access to the world applies everything that has become due (`settle.ts`). So
// a held clock works, and a fleet of any size costs nothing without access. Entries are plain data, not
// functions.

/** An agenda as a binary heap, optionally with the `entries` of another one. */
export function createAgenda(entries: readonly Entry[] = []): Agenda {
  // A sorted array is a valid heap.
  const heap: Entry[] = entries.map(({ at, due }, order) => ({ at, due, order }));
  let made = heap.length;
  return {
    add(at, due) {
      heap.push({ at, order: made, due });
      made += 1;
      siftUp(heap);
    },
    take(now) {
      const first = heap[0];
      const last = heap.at(-1);
      if (!first || !last || first.at > now) return undefined;
      heap.pop();
      if (heap.length > 0) siftDown(heap, last);
      return first;
    },
    entries: () => [...heap].sort((left, right) => left.at - right.at || left.order - right.order),
  };
}

const before = (left: Entry, right: Entry) =>
  left.at < right.at || (left.at === right.at && left.order < right.order);

/** Moves the last entry up to its place. */
function siftUp(heap: Entry[]): void {
  let at = heap.length - 1;
  const entry = heap[at];
  while (entry && at > 0) {
    const above = (at - 1) >> 1;
    const parent = heap[above];
    if (!parent || !before(entry, parent)) break;
    heap[at] = parent;
    heap[above] = entry;
    at = above;
  }
}

/** Puts `entry` at the root and moves it down to its place. */
function siftDown(heap: Entry[], entry: Entry): void {
  let at = 0;
  for (;;) {
    const left = heap[2 * at + 1];
    const right = heap[2 * at + 2];
    const child = right && left && before(right, left) ? right : left;
    if (!child || !before(child, entry)) break;
    heap[at] = child;
    at = child === left ? 2 * at + 1 : 2 * at + 2;
  }
  heap[at] = entry;
}
