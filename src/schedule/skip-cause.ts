/** What keeps a policy from firing, apart from other runs; used to decide and to report. */
import { DAY_MS, firstAt, isoDay, offsetAt } from '../dates.ts';
import type { Blackout, Schedule } from '../policy/policy.ts';
import { type FreezeScope, formatScope } from '../records/freeze-scope.ts';
import type { SkipCode } from '../records/ledger-store.ts';
import type { Pause, Pauses, PolicyState } from '../records/policy-store.ts';
import { weekdays } from '../yaml/days.ts';

// Days on which a schedule fires nothing.

const TEN_YEARS = 3_653;

type WithBlackout = Pick<Schedule, 'blackout' | 'timezone'>;

/** The blackout that a scheduled time is in. Days last from midnight to midnight in the schedule's zone. */
export function blackoutOn({ blackout, timezone }: WithBlackout, scheduledFor: number): Blackout | undefined {
  if (blackout.length === 0) return undefined;
  return blackoutOnDay(blackout, dayNumber(timezone, scheduledFor));
}

/** The end of the blackout that contains this time; nothing when it lasts for ten years. */
export function endOfBlackout(
  { blackout, timezone }: WithBlackout,
  scheduledFor: number,
): number | undefined {
  const first = dayNumber(timezone, scheduledFor);
  let day = first;
  while (day - first < TEN_YEARS && blackoutOnDay(blackout, day)) day += 1;
  if (day - first >= TEN_YEARS) return undefined;
  return firstAt(timezone, day * DAY_MS);
}

/** A blackout in a few words: `calendar holidays, 2026-12-24 to 2026-12-26`. */
export function formatBlackout(blackout: Blackout): string {
  const { calendar } = blackout;
  const days =
    'weekday' in blackout
      ? `every ${blackout.weekday}`
      : blackout.from === blackout.to
        ? blackout.from
        : `${blackout.from} to ${blackout.to}`;
  return calendar === undefined ? days : `calendar ${calendar}, ${days}`;
}

/** The day that calendars in a zone show, counted from 1970. */
export const dayNumber = (zone: string, at: number): number => Math.floor((at + offsetAt(zone, at)) / DAY_MS);

/** `day` is counted from 1970, which began on a Thursday. */
export function blackoutOnDay(blackout: readonly Blackout[], day: number): Blackout | undefined {
  const isoDate = isoDay(day * DAY_MS);
  const weekday = weekdays[(day + 4) % 7];
  return blackout.find((days) =>
    'weekday' in days ? days.weekday === weekday : days.from <= isoDate && isoDate <= days.to,
  );
}

export interface SkipCause {
  why: Exclude<SkipCode, 'overlap'>;
  /** Details: who and why, or which days. */
  note?: string;
}

/** Set in its file: it makes no scheduled run until the file is edited. */
export const DISABLED: SkipCause = { why: 'disabled', note: 'schedule.enabled: false' };

/** What is stored of a policy in addition to its file. */
export type SkipFacts = Pick<PolicyState, 'pause' | 'pauses' | 'freezes'>;

/**
 * What keeps a firing that is due at `dueAt` from being made at `now`; by default when it is due. A pause
 * that began after it was due stops a late firing, too.
 */
export function skipCauseOf(
  schedule: Schedule,
  state: SkipFacts,
  { scheduledFor, dueAt, now = dueAt }: { scheduledFor: number; dueAt: number; now?: number },
): SkipCause | undefined {
  if (schedule.disabled) return DISABLED;
  const freeze = pauseOver(state.freezes, dueAt) ?? pauseOver(state.freezes, now);
  if (freeze) return { why: 'frozen', note: noteOf(freeze) + partOf(freeze.scope) };
  const pause = pauseOver(state, dueAt) ?? pauseOver(state, now);
  if (pause) return { why: 'paused', note: noteOf(pause) };
  const blackout =
    blackoutOn(schedule, scheduledFor) ?? (now > dueAt ? blackoutOn(schedule, now) : undefined);
  if (blackout) return { why: 'blackout', note: formatBlackout(blackout) };
  return undefined;
}

/** The pause, past, present or planned, that covers a time. */
const pauseOver = (
  { pause, pauses = [] }: Pauses = {},
  at: number,
): (Pause & { scope?: FreezeScope }) | undefined =>
  [...pauses, ...(pause ? [pause] : [])].find(
    (one) => one.at <= at && at < (one.until ?? Number.POSITIVE_INFINITY),
  );

const noteOf = ({ by, reason }: Pause): string => `by ${by}${reason === undefined ? '' : `: ${reason}`}`;

const partOf = (scope: FreezeScope | undefined): string =>
  scope === undefined ? '' : ` (${formatScope(scope)})`;

/** What kept a policy from firing, in words: `paused by anna: the big sale`. */
export const formatSkipCause = ({ why, note }: { why: SkipCode; note?: string }): string =>
  note === undefined ? why : `${why} ${/^(by |\d|until |calendar |every )/.test(note) ? note : `(${note})`}`;
