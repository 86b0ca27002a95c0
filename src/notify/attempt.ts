/** One attempt at a delivery, and what follows from it. */
import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Delivery } from '../records/delivery-store.ts';
import type { DeliveryState } from '../records/filter-values.ts';
import type { Records } from '../records/records.ts';
import type { Settings } from '../settings/settings.ts';
import { formatDuration } from '../yaml/duration.ts';
import { send } from './channels.ts';
import type { Sent } from './post.ts';

export interface AttemptDeps {
  records: Pick<Records, 'deliveries' | 'measurements'>;
  settings: Pick<Settings, 'notifications'>;
  clock: Clock;
  log: Log;
  dispatcher: Dispatcher;
}

/** A process that has not recorded a result for this long is considered dead. Longer than an attempt takes. */
export const CLAIM_MS = 60_000;

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
/** The pauses between attempts: about a day in all. */
export const RETRY_PAUSES_MS: readonly number[] = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  8 * HOUR,
];
/** A receiver that asks for a longer pause gets this one. */
const MAX_PAUSE_MS = 24 * HOUR;

/** What follows from an attempt: `tries` counts it. */
export function stateAfter(
  tries: number,
  sent: Sent,
  now: number,
): { state: DeliveryState; due?: number | undefined } {
  if (sent.is === 'delivered') return { state: 'delivered' };
  const pause = RETRY_PAUSES_MS[tries - 1];
  if (sent.is === 'rejected' || pause === undefined) return { state: 'dead' };
  return { state: 'pending', due: now + Math.min(Math.max(pause, sent.retryAfterMs ?? 0), MAX_PAUSE_MS) };
}

/**
 * Attempts a delivery once, if it is due and no other process attempts it. Takes at most half a minute.
 *
 * A process that dies after the receiver has got the message, or loses its answer, cannot know that: then it is sent
 * again, with the same id. Gives whether it was attempted.
 */
export async function attempt(deps: AttemptDeps, id: string): Promise<boolean> {
  const { records, settings, clock, log, dispatcher } = deps;
  const at = clock.now();
  const delivery = await records.deliveries.claim(id, at, CLAIM_MS);
  if (!delivery) return false;
  const receiver = settings.notifications[delivery.to];
  const sent: Sent = receiver
    ? await send(delivery, receiver, { now: at, dispatcher })
    : { is: 'failed', why: 'there is no such name under notifications in the configuration' };
  const now = clock.now();
  const next = stateAfter(delivery.tries, sent, now);
  const { is } = sent;
  const why = sent.why === undefined ? {} : { why: sent.why };
  if (!(await records.deliveries.end(delivery, { ...next, attempt: { at, is, ms: now - at, ...why } })))
    return true;
  const { event, to, run, policy } = delivery;
  records.measurements.note('deliveryAttempt', [to, is], now - at);
  if (is === 'delivered') records.measurements.note('deliveryDelay', [to], now - delivery.at);
  const facts = { delivery: id, event, to, ...(run && { run }), ...(policy && { policy }) };
  if (sent.is === 'delivered' && sent.why === undefined) log.debug(facts, 'a notification was delivered');
  else if (sent.is === 'delivered')
    log.warn(facts, `not everybody at "${to}" was notified ${formatSubject(delivery)}: ${sent.why}.`);
  else if (next.due === undefined)
    log.error(
      facts,
      `"${to}" was not notified ${formatSubject(delivery)}: ${sent.why}. It is not tried again by itself; caretaker notify resend ${id} sends it again.`,
    );
  else
    log.warn(
      facts,
      `"${to}" was not notified ${formatSubject(delivery)} yet: ${sent.why}. The next attempt is in ${formatDuration(next.due - now)}.`,
    );
  return true;
}

/** What it is about, for a log: `of run.failed (nightly.1)`. */
const formatSubject = ({ event, run, policy }: Delivery): string => {
  const about = run ?? policy;
  return `of ${event}${about === undefined ? '' : ` (${about})`}`;
};

/**
 * How many attempts one process makes at one receiver at the same time. One that does not answer holds its own slots, and
 * the messages to others go on.
 */
interface Slots {
  busy: number;
  /** The deliveries that found no free slot. They are still due: this process only need not look for them again. */
  waiting: Set<string>;
}

export class ReceiverSlots {
  private readonly receivers = new Map<string, Slots>();
  private isStopped = false;

  constructor(
    private readonly attempt: (delivery: string) => Promise<unknown>,
    private readonly max: number,
  ) {}

  /** Whether the delivery waits here for a free slot. */
  has(to: string, delivery: string): boolean {
    return this.receivers.get(to)?.waiting.has(delivery) ?? false;
  }

  /**
   * Attempts the delivery, and then those that found no free slot meanwhile. Resolves at once when there is none: then
   * another call attempts it.
   */
  async take(to: string, delivery: string): Promise<void> {
    const slots = this.receivers.get(to) ?? { busy: 0, waiting: new Set() };
    this.receivers.set(to, slots);
    slots.waiting.add(delivery);
    if (slots.busy >= this.max) return;
    slots.busy += 1;
    try {
      for (const next of slots.waiting) {
        if (this.isStopped) return;
        slots.waiting.delete(next);
        await this.attempt(next);
      }
    } finally {
      slots.busy -= 1;
      // What still waits after an error is due, and found again.
      if (slots.busy === 0) this.receivers.delete(to);
    }
  }

  /** Begins no other attempt. */
  stop(): void {
    this.isStopped = true;
  }
}
