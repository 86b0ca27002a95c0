/**
 * What keeps a policy from firing, apart from other runs: asked by whoever fires and by whoever tells of it.
 */
import type { Schedule } from '../policy/policy.ts';
import type { LeftOutFor } from '../records/ledger-store.ts';
import type { Pause, Pauses, PolicyState } from '../records/policy-store.ts';
import { blackoutOn, formatBlackout } from './calendar.ts';

export interface SkipCause {
  why: Exclude<LeftOutFor, 'overlap'>;
  /** What there is to say besides: who and why, or which days. */
  note?: string;
}

/** Its file says so: it makes no scheduled run until the file is edited. */
export const DISABLED: SkipCause = { why: 'disabled', note: 'schedule.enabled: false' };

/** What is written down of a policy besides its file. */
export type SkipFacts = Pick<PolicyState, 'pause' | 'pauses' | 'freezes'>;

/**
 * What keeps a firing that is due at `dueAt` from being made at `now`; by default when it is due. What has
 * begun only after it was due keeps a late firing from being made, too.
 */
export function skipCauseOf(
  schedule: Schedule,
  state: SkipFacts,
  { moment, dueAt, now = dueAt }: { moment: number; dueAt: number; now?: number },
): SkipCause | undefined {
  if (schedule.disabled) return DISABLED;
  const freeze = pauseOver(state.freezes, dueAt) ?? pauseOver(state.freezes, now);
  if (freeze) return { why: 'frozen', note: noteOf(freeze) };
  const pause = pauseOver(state, dueAt) ?? pauseOver(state, now);
  if (pause) return { why: 'paused', note: noteOf(pause) };
  const blackout = blackoutOn(schedule, moment) ?? (now > dueAt ? blackoutOn(schedule, now) : undefined);
  if (blackout) return { why: 'blackout', note: formatBlackout(blackout) };
  return undefined;
}

/** The pause that held, holds or will hold at a moment. */
const pauseOver = ({ pause, pauses = [] }: Pauses = {}, at: number): Pause | undefined =>
  [...pauses, ...(pause ? [pause] : [])].find(
    (one) => one.at <= at && at < (one.until ?? Number.POSITIVE_INFINITY),
  );

const noteOf = ({ by, reason }: Pause): string => `by ${by}${reason === undefined ? '' : `: ${reason}`}`;
