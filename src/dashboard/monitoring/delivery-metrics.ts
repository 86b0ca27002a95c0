/** Notifications: the attempts of every process, and what has not arrived. The labels have the names of the receivers. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Clock } from '../../clock.ts';
import type { ReceiverView } from '../../notify/receiver-view.ts';
import type { OpenDeliveries } from '../../records/delivery-queries.ts';
import type { DeliveryStore } from '../../records/delivery-store.ts';
import type { Measurement } from '../../records/measurement-store.ts';
import { oneOf } from './histograms.ts';
import type { ReadOnce } from './read-once.ts';

const results = ['delivered', 'failed', 'rejected'] as const;

/** The names of the receivers that get messages. */
export const notified = (receivers: readonly ReceiverView[]): string[] =>
  receivers.filter(({ kind }) => kind !== 'heartbeat').map(({ name }) => name);

/** Counts attempts; gives a function that takes measurements. */
export function addAttempts(
  receivers: () => readonly string[],
  registry: Registry,
): (measurement: Measurement) => void {
  const attempts = new Counter({
    name: 'caretaker_delivery_attempts_total',
    help: 'Attempts to deliver a notification, by receiver and result; every process counts, since this process started.',
    labelNames: ['receiver', 'result'],
    registers: [registry],
    collect() {
      // A series that begins at 1 shows no increase.
      for (const receiver of receivers()) for (const result of results) this.inc({ receiver, result }, 0);
    },
  });
  return ({ kind, labels: [receiver = '', result = ''] }) => {
    if (kind !== 'deliveryAttempt') return;
    attempts.inc({ receiver: oneOf(receivers(), receiver), result: oneOf(results, result) });
  };
}

/** What has not arrived, by receiver. Those that the configuration does not have are counted together as `other`. */
export async function undelivered(
  receivers: readonly string[],
  deliveries: Pick<DeliveryStore, 'open'>,
): Promise<Map<string, OpenDeliveries>> {
  const found = new Map<string, OpenDeliveries>(receivers.map((name) => [name, { pending: 0, dead: 0 }]));
  for (const [to, { pending, dead, since }] of await deliveries.open()) {
    const name = oneOf(receivers, to);
    const before = found.get(name) ?? { pending: 0, dead: 0 };
    const oldest = Math.min(before.since ?? Number.POSITIVE_INFINITY, since ?? Number.POSITIVE_INFINITY);
    found.set(name, {
      pending: before.pending + pending,
      dead: before.dead + dead,
      ...(Number.isFinite(oldest) && { since: oldest }),
    });
  }
  return found;
}

export function addUndelivered(
  open: ReadOnce<Map<string, OpenDeliveries>>,
  clock: Pick<Clock, 'now'>,
  registry: Registry,
): void {
  const registers = [registry];
  new Gauge({
    name: 'caretaker_deliveries',
    help: 'Notifications that have not arrived, by receiver; pending ones are attempted again, dead ones only when a person sends them again.',
    labelNames: ['receiver', 'state'],
    registers,
    async collect() {
      this.reset();
      for (const [receiver, { pending, dead }] of await open.get()) {
        this.set({ receiver, state: 'pending' }, pending);
        this.set({ receiver, state: 'dead' }, dead);
      }
    },
  });
  new Gauge({
    name: 'caretaker_delivery_oldest_seconds',
    help: 'Age of the oldest pending notification of a receiver; 0 when none is pending.',
    labelNames: ['receiver'],
    registers,
    async collect() {
      this.reset();
      const now = clock.now();
      for (const [receiver, { since }] of await open.get())
        this.set({ receiver }, since === undefined ? 0 : Math.max(0, now - since) / 1_000);
    },
  });
}
