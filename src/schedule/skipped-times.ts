/** Moments that make no run: how they are recorded, and told in the log. */
import { isoTime } from '../clock.ts';
import type { Log } from '../log.ts';
import type { FiringRecord } from '../records/ledger-store.ts';
import type { Decision } from './due.ts';

/** The record of a decision not to fire, made at `at`. */
export function recordOf(decision: Exclude<Decision, { is: 'fire' }>, at: number): FiringRecord {
  const { moment } = decision;
  switch (decision.is) {
    case 'missed':
      return { moment, is: 'missed', at };
    case 'merged':
      return { moment, is: 'merged', at, into: decision.into };
    case 'skip': {
      const { why, note } = decision;
      return { moment, is: 'skipped', at, why, ...(note === undefined ? {} : { note }) };
    }
  }
}

const words: Record<string, string> = {
  paused: 'did not fire: the policy is paused',
  frozen: 'did not fire: everything is frozen',
  blackout: 'did not fire: it is a day of its blackout',
  disabled: 'did not fire: the policy is disabled',
  missed: 'did not fire: it was missed by more than its catchup',
  merged: 'did not fire by itself: one run makes up for all that was missed',
};

/** One line for each reason, however many scheduled times there were. */
export function tellLeftOut(log: Log, policy: string, records: readonly FiringRecord[]): void {
  for (const [kind, text] of Object.entries(words)) {
    const moments = records.filter((one) => (one.why ?? one.is) === kind);
    const last = moments.at(-1);
    if (!last) continue;
    const note = last.note === undefined ? {} : { note: last.note };
    log[kind === 'missed' ? 'warn' : 'info'](
      { policy, moments: moments.length, last: isoTime(last.moment), ...note },
      text,
    );
  }
}
