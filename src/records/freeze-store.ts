import { isoMinute } from '../clock.ts';
import { type Store, toJson } from '../redis/store.ts';
import type { CaretakerEvent } from './events.ts';
import { keys } from './keys.ts';
import { addEndedPause, type Pause, pauseAt, pausesOf, replacePause } from './policy-store.ts';

/** Who froze everything, when and why, and when that ends by itself. */
export type Freeze = Pause & { until: number };

const FREEZE = { hash: keys.freeze };

/** The global freeze: while it holds, no run of any policy is made. It is kept as a policy's pause is. */
export class FreezeStore {
  constructor(private readonly store: Store) {}

  /** The freeze that holds at `now`. */
  async at(now: number): Promise<Freeze | undefined> {
    return freezeAt({ freezes: pausesOf(await this.store.hgetall(keys.freeze), keys.freeze) }, now);
  }

  /** Freezes everything, in place of a freeze that there may be; that one is remembered as over. */
  async begin(freeze: Freeze): Promise<void> {
    await replacePause(this.store, { keys: FREEZE, args: { now: freeze.at, next: toJson(freeze) } });
    await this.tell(freeze.at);
  }

  /** Notes a freeze that is over already: what was due meanwhile is left out, as by any other. */
  async note(freeze: Freeze): Promise<void> {
    await addEndedPause(this.store, { keys: FREEZE, args: { pause: toJson(freeze) } });
    await this.tell(freeze.until);
  }

  /** Ends a freeze before its time. */
  async end(at: number): Promise<void> {
    await replacePause(this.store, { keys: FREEZE, args: { now: at, next: '' } });
    await this.tell(at);
  }

  private async tell(at: number): Promise<void> {
    const event: CaretakerEvent = { type: 'freeze.changed', at };
    await this.store.publish(keys.events, JSON.stringify(event));
  }
}

/** The freeze that holds at `now`, by what is remembered of any policy. */
export function freezeAt(
  state: Parameters<typeof pauseAt>[0] & { freezes?: Parameters<typeof pauseAt>[0] },
  now: number,
): Freeze | undefined {
  const found = pauseAt(state?.freezes, now);
  return found && { ...found, until: found.until ?? Number.POSITIVE_INFINITY };
}

/** A freeze in a few words, the same wherever it is told: `frozen by anna since ... until ... (the sale)`. */
export const formatFreeze = ({ by, at, until, reason }: Freeze): string =>
  `frozen by ${by} since ${isoMinute(at)} until ${isoMinute(until)}${reason === undefined ? '' : ` (${reason})`}`;
