/** A notifier on a real Redis, with real receivers, at a held time. */
import { Redis, type RedisOptions } from 'ioredis';
import { onTestFinished } from 'vitest';
import { createNotifier } from '../../src/notify/notifier.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { openQueues } from '../../src/queue/queues.ts';
import { openRecords } from '../../src/records/records.ts';
import type { Run, RunStatus } from '../../src/run/run.ts';
import type { Notification } from '../../src/settings/settings.ts';
import { aPolicy, aRun } from '../support/builders.ts';
import { type HeldClock, heldClock } from '../support/held-clock.ts';
import { keptLog } from '../support/quiet.ts';
import { startTestRedis } from '../support/redis.ts';
import type { Receiver } from './receiver.ts';

export const NOON = Date.parse('2026-11-21T12:00:00Z');

/** As settings: receivers by their names. */
export function webhooks(
  receivers: Record<string, Pick<Receiver, 'url'>>,
  secret?: string,
  rules: Partial<Notification> = { group_wait: 0 },
): Record<string, Notification> {
  return Object.fromEntries(
    Object.entries(receivers).map(([name, { url }]) => [
      name,
      { name, webhook: { url, ...(secret === undefined ? {} : { secret }) }, ...rules },
    ]),
  );
}

/** What a process has that notifies: its own connection, on the same Redis as others. */
export function aProcess(
  redis: Redis,
  notifications: Record<string, Notification>,
  clock: HeldClock = heldClock(NOON),
) {
  const log = keptLog();
  const records = openRecords(redis);
  const queues = openQueues(redis, log);
  const notifier = createNotifier({ records, queues, settings: { notifications }, clock, log });
  return { redis, records, queues, notifier, clock, log };
}

/** A Redis of its own for a test. */
export async function aRedis(options: Pick<RedisOptions, 'keyPrefix'> = {}) {
  const server = await startTestRedis();
  const opened: Redis[] = [];
  onTestFinished(async () => {
    for (const one of opened) one.disconnect();
    await server.stop();
  });
  const connect = () => {
    const redis = new Redis({
      ...server.options,
      ...options,
      maxRetriesPerRequest: null,
      retryStrategy: () => 10,
    });
    redis.on('error', () => undefined);
    opened.push(redis);
    return redis;
  };
  return { server, connect };
}

/** A process that notifies, with a Redis of its own. */
export async function aWorld(
  notifications: Record<string, Notification>,
  options?: Parameters<typeof aRedis>[0],
) {
  const { connect, server } = await aRedis(options);
  const one = aProcess(connect(), notifications);
  onTestFinished(() => one.queues.close());
  return {
    ...one,
    server,
    another: (theirs = notifications) => aProcess(connect(), theirs, one.clock),
  };
}

/** A policy that notifies these. */
export const telling = (...notify: Policy['notify']): Policy => aPolicy({ notify });

/** A stored run that is active, of a policy. */
export async function activeRun(
  { records }: Pick<ReturnType<typeof aProcess>, 'records'>,
  policy: Policy,
  changes: Partial<Run> = {},
): Promise<Run> {
  const run = aRun({
    id: 'nightly-sync.20261121T020000Z',
    policy: policy.name,
    account: 'default',
    status: 'running',
    scheduledFor: Date.parse('2026-11-21T02:00:00Z'),
    createdAt: Date.parse('2026-11-21T02:00:00.120Z'),
    requests: 61,
    counts: { planned: 40, succeeded: 36, failed: 3, skipped: 1, cancelled: 0 },
    policyJson: JSON.stringify(policy),
    ...changes,
  });
  await records.runs.create(run, { concurrency: 5, targetMs: 60_000 });
  return run;
}

/** Ends a run at noon, with its notice. */
export async function endRun(
  { records }: Pick<ReturnType<typeof aProcess>, 'records'>,
  run: Run,
  status: RunStatus,
  detail?: string,
): Promise<void> {
  const change = { at: NOON, ...(detail === undefined ? {} : { detail }) };
  const notice = { type: 'run', run: run.id, status, ...change } as const;
  await records.runs.move(run, status, { ...change, notice });
}

/** The headers and the body of a letter, as one names them. */
export const letterOf = ({ received }: Receiver, index = 0) => {
  const { headers, body } = received.at(index) ?? { headers: {}, body: 'null' };
  return { headers, ...(JSON.parse(body) as { type: string; timestamp: string; data: { text: string } }) };
};

/** The kinds of events that a receiver was sent. */
export const toldTo = (receiver: Receiver): string[] =>
  receiver.received.map((_, index) => letterOf(receiver, index).type);
