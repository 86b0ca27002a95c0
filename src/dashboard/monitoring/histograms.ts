/**
 * The histograms: how long requests, targets and waits take, in every process. They start at zero with this
 * process, as the counters of events do.
 */
import { Histogram, type Registry } from 'prom-client';
import { operationIds } from '../../contract/operations.ts';
import type { Registry as Jobs } from '../../job/registry.ts';
import { type MeasuredKind, type Measurement, measured } from '../../records/measurement-store.ts';
import type { EventBus } from '../events/event-bus.ts';

type Kind = Exclude<MeasuredKind, 'deliveryAttempt'>;
/** What each label may be; another value, of a newer version on this Redis, counts as `other`. */
type Allowed = Record<(typeof measured)[Kind][number], readonly string[]>;

const allowed: Omit<Allowed, 'receiver'> = {
  operation: operationIds,
  result: [
    'ok',
    'rejected',
    'refused',
    'gone',
    'conflict',
    'rate-limited',
    'unavailable',
    'redirected',
    'unanswered',
  ],
  queue: ['plans', 'actions', 'deliveries'],
  trigger: ['schedule', 'catch-up', 'after'],
};

const shapes: Record<Kind, { name: string; help: string; buckets: number[] }> = {
  request: {
    name: 'caretaker_request_duration_seconds',
    help: 'Time until the answer to a request begins, by operation and result; every process counts, since this process started.',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  },
  queueWait: {
    name: 'caretaker_queue_wait_seconds',
    help: 'Time that entries wait in a queue before a worker takes them; every process counts, since this process started.',
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300],
  },
  scheduleLateness: {
    name: 'caretaker_schedule_lateness_seconds',
    help: 'Time from when a policy was due, jitter included, until its run was created; every process counts, since this process started.',
    buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600],
  },
  deliveryDelay: {
    name: 'caretaker_delivery_delay_seconds',
    help: 'Time from an event until a receiver accepted the message about it, waits of its rules included; every process counts, since this process started.',
    buckets: [1, 5, 15, 60, 300, 900, 3600, 14_400, 43_200, 86_400],
  },
};

/** Adds the histograms; gives a function that takes measurements. */
export function addHistograms(
  eventBus: EventBus,
  jobs: Pick<Jobs, 'names'>,
  receivers: () => readonly string[],
  registry: Registry,
): (measurement: Measurement) => void {
  const registers = [registry];
  const byKind = new Map(
    Object.entries(shapes).map(([kind, shape]) => {
      const labelNames = measured[kind as Kind];
      return [kind, { labelNames, histogram: new Histogram({ ...shape, labelNames, registers }) }] as const;
    }),
  );
  const targets = new Histogram({
    name: 'caretaker_target_duration_seconds',
    help: 'Time from the first dispatch of a target to its end, by job; every process counts, since this process started.',
    labelNames: ['job'],
    buckets: [1, 5, 15, 60, 180, 600, 1800, 3600, 7200, 21_600],
    registers,
  });
  eventBus.on((event) => {
    if (event.type !== 'target.ended' || event.startedAt === undefined || event.job === undefined) return;
    const job = oneOf(jobs.names(), event.job);
    targets.observe({ job }, Math.max(0, event.at - event.startedAt) / 1_000);
  });
  return ({ kind, labels, seconds }) => {
    const known = byKind.get(kind);
    if (!known) return;
    const lists: Allowed = { ...allowed, receiver: receivers() };
    const values = known.labelNames.map((name, at) => [name, oneOf(lists[name], labels[at] ?? '')]);
    known.histogram.observe(Object.fromEntries(values), seconds);
  };
}

/** The value, or `other` for one that only a newer version on this Redis knows: labels stay bounded. */
export const oneOf = (list: readonly string[], value: string): string =>
  list.includes(value) ? value : 'other';
