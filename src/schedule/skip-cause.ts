/** What keeps a policy from firing, apart from other runs; used to decide and to report. */
import type { Schedule } from '../policy/policy.ts';
import { type FreezeScope, formatScope } from '../records/freeze-scope.ts';
import type { SkipCode } from '../records/ledger-store.ts';
import type { Pause, Pauses, PolicyState } from '../records/policy-store.ts';
import { blackoutOn, formatBlackout } from './blackout.ts';

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
