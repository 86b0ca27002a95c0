/** Scheduled times that make no run: their records, and their lines in the log. */
import { isoTime } from '../clock.ts';
import type { Log } from '../log.ts';
import type { ScheduledTime } from '../records/ledger-store.ts';
import type { Decision } from './due.ts';

/** The record of a decision not to fire, made at `at`. */
export function recordOf(decision: Exclude<Decision, { is: 'fire' }>, at: number): ScheduledTime {
  const { scheduledFor } = decision;
  if (decision.is === 'merged') return { scheduledFor, is: 'merged', at, into: decision.into };
  const after = decision.afterRun === undefined ? {} : { after: decision.afterRun };
  switch (decision.is) {
    case 'missed':
      return { scheduledFor, is: 'missed', at, ...after };
    case 'skip': {
      const { why, note } = decision;
      return { scheduledFor, is: 'skipped', at, why, ...(note === undefined ? {} : { note }), ...after };
    }
  }
}

const messages: Record<string, string> = {
  paused: 'did not fire: the policy is paused',
  frozen: 'did not fire: a freeze is active',
  blackout: 'did not fire: the day is in its blackout',
  disabled: 'did not fire: the policy is disabled',
  missed: 'did not fire: it was missed, and is older than its catchup or "within" allows',
  merged: 'did not fire: one run serves for all scheduled times that were missed',
};

/** One line for each reason, whatever the number of scheduled times. */
export function logSkipped(log: Log, policy: string, records: readonly ScheduledTime[]): void {
  for (const [kind, text] of Object.entries(messages)) {
    const skipped = records.filter((one) => (one.why ?? one.is) === kind);
    const last = skipped.at(-1);
    if (!last) continue;
    const note = last.note === undefined ? {} : { note: last.note };
    log[kind === 'missed' ? 'warn' : 'info'](
      { policy, scheduledTimes: skipped.length, last: isoTime(last.scheduledFor), ...note },
      text,
    );
  }
}
