/** Attempts at a delivery over a day, and what ends them. */
import { describe, expect, test, vi } from 'vitest';
import { RETRY_PAUSES_MS, stateAfter } from '../../src/notify/attempt.ts';
import type { Measurement } from '../../src/records/measurement-store.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { activeRun, aWorld, endRun, letterOf, NOON, telling, toldTo, webhooks } from './world.ts';

const toOps = telling({ on: ['failed'], to: 'ops' });
const DAY = 86_400_000;

/** A run has failed, and its receiver answers as it does. */
async function failed(ops: Receiver) {
  const world = await aWorld(webhooks({ ops }));
  await endRun(world, await activeRun(world, toOps), 'failed');
  const only = async () => {
    const [delivery] = await world.records.deliveries.list({ limit: 10 });
    if (!delivery) throw new Error('there is no delivery');
    return delivery;
  };
  return { ...world, only };
}

describe('the attempts', () => {
  const failing = { is: 'failed', why: 'it answered with HTTP 500' } as const;

  test('have growing pauses, and end after about a day', () => {
    const pauses = [...RETRY_PAUSES_MS];
    expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
    const total = pauses.reduce((sum, ms) => sum + ms, 0);
    expect(Math.abs(total - DAY)).toBeLessThan(DAY / 24);
    expect(stateAfter(1, failing, NOON)).toEqual({ state: 'pending', due: NOON + 5_000 });
    expect(stateAfter(pauses.length, failing, NOON).state).toBe('pending');
    expect(stateAfter(pauses.length + 1, failing, NOON)).toEqual({ state: 'dead' });
  });

  test('wait as long as the receiver asks for, at most a day', () => {
    expect(stateAfter(1, { ...failing, retryAfterMs: 90_000 }, NOON)).toMatchObject({ due: NOON + 90_000 });
    expect(stateAfter(1, { ...failing, retryAfterMs: 1_000 }, NOON)).toMatchObject({ due: NOON + 5_000 });
    expect(stateAfter(1, { ...failing, retryAfterMs: 90 * DAY }, NOON)).toMatchObject({ due: NOON + DAY });
  });

  test('end at once when the receiver rejects the message', () => {
    expect(stateAfter(1, { is: 'rejected', why: '' }, NOON)).toEqual({ state: 'dead' });
  });
});

test('a receiver that is in trouble gets the same message with the same id, until it accepts it', async () => {
  const ops = await startReceiver(500, 503, 200);
  const { notifier, clock, only } = await failed(ops);

  await notifier.deliverDue();
  await notifier.deliverDue();
  expect(ops.received).toHaveLength(1);
  expect(await only()).toMatchObject({ state: 'pending', due: NOON + 5_000 });
  await clock.advance(5_000);
  await notifier.deliverDue();
  await clock.advance(30_000);
  await notifier.deliverDue();
  await clock.advance(DAY);
  await notifier.deliverDue();

  expect(ops.received).toHaveLength(3);
  expect(new Set(ops.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(new Set(ops.received.map(({ body }) => body)).size).toBe(1);
  expect(ops.received.map(({ headers }) => Number(headers['webhook-timestamp']) - NOON / 1000)).toEqual([
    0, 5, 35,
  ]);
  expect(await only()).toMatchObject({
    state: 'delivered',
    attempts: [
      { at: NOON, is: 'failed', why: 'it answered with HTTP 500' },
      { at: NOON + 5_000, is: 'failed', why: 'it answered with HTTP 503' },
      { at: NOON + 35_000, is: 'delivered' },
    ],
  });
});

test.each([
  ['120', 120_000],
  [new Date(NOON + 600_000).toUTCString(), 600_000],
  ['soon', 5_000],
])('a receiver that answers 429 with Retry-After: %s is left alone for so long', async (header, ms) => {
  const ops = await startReceiver(
    (response) => response.writeHead(429, { 'retry-after': header }).end(),
    204,
  );
  const { notifier, clock, only } = await failed(ops);

  await notifier.deliverDue();

  expect((await only()).due).toBe(NOON + ms);
  await clock.advance(ms - 1);
  await notifier.deliverDue();
  expect(ops.received).toHaveLength(1);
  await clock.advance(1);
  await notifier.deliverDue();
  expect(toldTo(ops)).toEqual(['run.failed', 'run.failed']);
});

test('a delivery that fails for a day is dead, and arrives when it is sent again, with the same id', async () => {
  const ops = await startReceiver(...Array.from({ length: RETRY_PAUSES_MS.length + 1 }, () => 500), 204);
  const { notifier, records, clock, log, only } = await failed(ops);

  for (const pause of [...RETRY_PAUSES_MS, DAY]) {
    await notifier.deliverDue();
    await clock.advance(pause);
  }
  await notifier.deliverDue();
  const dead = await only();
  expect(dead).toMatchObject({ state: 'dead', tries: RETRY_PAUSES_MS.length + 1 });
  expect(dead.due).toBeUndefined();
  expect(await records.deliveries.list({ state: 'dead', limit: 10 })).toHaveLength(1);
  expect(log.lines.at(-1)).toContain(`caretaker notify resend ${dead.id}`);

  expect(await records.deliveries.sendAgain(dead.id, clock.now())).toBe(true);
  await notifier.deliverDue();

  expect(await only()).toMatchObject({ state: 'delivered', tries: 1 });
  expect(letterOf(ops, RETRY_PAUSES_MS.length + 1).headers).toMatchObject({ 'webhook-id': dead.id });
  expect(await records.deliveries.sendAgain('msg_unknown', clock.now())).toBe(false);
});

test('a delivery and its indexes are forgotten after a month', async () => {
  const ops = await startReceiver(204);
  const { notifier, redis, clock, only, records } = await failed(ops);
  const MONTH = 30 * DAY;
  expect(await redis.pttl('{caretaker}:notices')).toBeGreaterThan(6 * DAY);
  await notifier.deliverDue();

  const { id } = await only();
  const keys = await redis.keys('{caretaker}:deliver*');
  expect(keys.sort()).toEqual([
    '{caretaker}:deliveries',
    '{caretaker}:deliveries:last',
    `{caretaker}:delivery:${id}`,
  ]);
  for (const key of keys) {
    expect(await redis.pttl(key), key).toBeGreaterThan(MONTH - DAY);
    expect(await redis.pttl(key), key).toBeLessThanOrEqual(MONTH);
  }
  // An index that lives on has only what is still there.
  await clock.advance(MONTH + 1);
  const policy = telling({ on: ['failed'], to: 'ops' });
  await endRun({ records }, await activeRun({ records }, policy, { id: 'later' }), 'failed');
  await notifier.deliverDue();
  expect(await redis.zcard('{caretaker}:deliveries')).toBe(1);
});

test('each attempt is measured with its result, and how long after the event a message was accepted', async () => {
  const ops = await startReceiver(500, 204);
  const { notifier, records, clock } = await failed(ops);
  const measurements: Measurement[] = [];
  const stop = await records.measurements.listen((measurement) => measurements.push(measurement));
  await notifier.deliverDue();
  await clock.advance(5_000);
  await notifier.deliverDue();
  await records.measurements.publish();
  await vi.waitFor(() => expect(measurements).toHaveLength(3), { timeout: 5_000 });
  await stop();

  expect(measurements).toEqual([
    { kind: 'deliveryAttempt', labels: ['ops', 'failed'], seconds: 0 },
    { kind: 'deliveryAttempt', labels: ['ops', 'delivered'], seconds: 0 },
    { kind: 'deliveryDelay', labels: ['ops'], seconds: 5 },
  ]);
});

test.each([
  ['', {}],
  [', also where the keys have a prefix', { keyPrefix: 'staging:' }],
])(
  'a newer message about a policy waits for an older one, which is tried at once then; others do not wait%s',
  async (_, options) => {
    const ops = await startReceiver(503, 503, 200);
    const world = await aWorld(webhooks({ ops }), options);
    const { notifier, clock } = world;
    const to = (name: string) => ({ ...telling({ on: ['failed', 'recovered'], to: 'ops' }), name });
    const end = async (policy: string, id: string, status: 'failed' | 'succeeded') => {
      await endRun(world, await activeRun(world, to(policy), { id }), status);
      await notifier.deliverDue();
    };
    await end('nightly', 'one', 'failed');
    await clock.advance(5_000);
    await notifier.deliverDue();
    await clock.advance(8_000);
    const tried = ops.received.length;
    const open = await world.records.deliveries.open();

    await end('nightly', 'two', 'succeeded');
    await end('other', 'three', 'failed');

    expect(tried).toBe(2);
    expect(open.get('ops')).toMatchObject({ pending: 1 });
    expect(toldTo(ops).slice(2)).toEqual(['run.failed', 'run.recovered', 'run.failed']);
  },
);

test('a message waits for one that is still being tried, and arrives when that one is given up', async () => {
  const ops = await startReceiver(503, 503, 410, 200);
  const world = await aWorld(webhooks({ ops }));
  const { notifier, clock } = world;
  const policy = telling({ on: ['failed', 'recovered'], to: 'ops' });
  await endRun(world, await activeRun(world, policy, { id: 'one' }), 'failed');
  await notifier.deliverDue();
  await endRun(world, await activeRun(world, policy, { id: 'two' }), 'succeeded');
  await notifier.deliverDue();
  await notifier.deliverDue();
  const before = toldTo(ops);
  await clock.advance(30_000);
  await notifier.deliverDue();

  expect(before).toEqual(['run.failed', 'run.failed']);
  expect(toldTo(ops)).toEqual(['run.failed', 'run.failed', 'run.failed', 'run.recovered']);
});
