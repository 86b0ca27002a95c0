/** The ends of targets whose time has passed. Pure functions. */
import { isoMinute } from '../../clock.ts';
import type { Held, Target, TargetIn, Watch } from '../../run/run.ts';
import { ended } from './decide.ts';

/** The detail of a target whose followed work had not ended at its time limit. */
export const stillUnderWay = ({ label = 'The work in the service' }: Watch): string =>
  `${label} was still under way.`;

/** The detail of a target when nothing showed at its time limit whether its followed work had ended. */
export const notShown = ({ label = 'The work in the service' }: Watch): string =>
  `${label} did not show whether it had ended.`;

/**
 * A target whose time limit passed. With an intent that has no result, it is unknown whether the effect
 * happened. `isRunning`: the last look has shown that its followed work was under way.
 */
export function timedOut(target: Target, now: number, isRunning = false): TargetIn<'ended'> {
  if (target.intent) {
    const { operation, answered } = target.intent;
    const lost =
      answered === undefined
        ? `The answer to ${operation} was lost.`
        : `The service answered ${operation} with HTTP ${answered}, which does not show whether it was done.`;
    const detail = target.detail === undefined ? lost : `${lost} ${target.detail}`;
    return ended(target, 'failed', 'unknown-effect', detail, now);
  }
  // This also holds while it is being retried: any request sent since would have left an intent.
  if (target.reason === 'conflict') {
    return ended(target, 'failed', 'conflict', target.detail, now);
  }
  const { state, watch } = target;
  const isFollowed = state === 'following' && watch !== undefined;
  // The detail of followed work, if any, says that the service no longer knows the work.
  const detail = target.detail ?? (isFollowed ? (isRunning ? stillUnderWay : notShown)(watch) : undefined);
  return ended(target, 'failed', isFollowed && !isRunning ? 'unconfirmed' : 'timeout', detail, now);
}

/**
 * A target that ends while its run is held. It is unknown what was done to it after the state that Redis was
 * restored to.
 */
export const unknownAfterRollback = (target: Target, { since }: Held, now: number): TargetIn<'ended'> =>
  ended(
    target,
    'failed',
    'unknown-effect',
    `Redis was restored to its state of ${isoMinute(since)}: it is not known whether the target was changed after that.`,
    now,
  );
