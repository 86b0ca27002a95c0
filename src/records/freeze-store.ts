import { isoMinute } from '../clock.ts';
import { type Store, toJson } from '../redis/store.ts';
import type { CaretakerEvent } from './events.ts';
import { keys } from './keys.ts';
import { addEndedPause, type Pause, pauseAt, pausesOf, replacePause } from './policy-store.ts';

/** Who froze everything, when and why, and when the freeze ends by itself. */
export type Freeze = Pause & { until: number };

const FREEZE = { hash: keys.freeze };

/**
 * The global freeze: while it is active, no policy starts a run. It is stored in the form of a policy's
 * pause.
 */
export class FreezeStore {
  constructor(private readonly store: Store) {}

  /** The freeze that is active at `now`. */
  async at(now: number): Promise<Freeze | undefined> {
    return freezeAt({ freezes: pausesOf(await this.store.hgetall(keys.freeze), keys.freeze) }, now);
  }

  /** Freezes everything. Replaces an active freeze, which is kept as ended. */
  async begin(freeze: Freeze): Promise<void> {
    await replacePause(this.store, { keys: FREEZE, args: { now: freeze.at, next: toJson(freeze) } });
    await this.publish(freeze.at);
  }

  /** Records a freeze that has already ended: runs that were due during it are skipped, as in any freeze. */
  async note(freeze: Freeze): Promise<void> {
    await addEndedPause(this.store, { keys: FREEZE, args: { pause: toJson(freeze) } });
    await this.publish(freeze.until);
  }

  /** Ends a freeze before its time. */
  async end(at: number): Promise<void> {
    await replacePause(this.store, { keys: FREEZE, args: { now: at, next: '' } });
    await this.publish(at);
  }

  private async publish(at: number): Promise<void> {
    const event: CaretakerEvent = { type: 'freeze.changed', at };
    await this.store.publish(keys.events, JSON.stringify(event));
  }
}

/** The freeze that is active at `now`, from the state of any policy. */
export function freezeAt(
  state: Parameters<typeof pauseAt>[0] & { freezes?: Parameters<typeof pauseAt>[0] },
  now: number,
): Freeze | undefined {
  const found = pauseAt(state?.freezes, now);
  return found && { ...found, until: found.until ?? Number.POSITIVE_INFINITY };
}

/** Formats a freeze for all messages: `frozen by anna since ... until ... (the sale)`. */
export const formatFreeze = ({ by, at, until, reason }: Freeze): string =>
  `frozen by ${by} since ${isoMinute(at)} until ${isoMinute(until)}${reason === undefined ? '' : ` (${reason})`}`;
