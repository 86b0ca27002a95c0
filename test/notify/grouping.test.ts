/** Failures that are reported once, again after `repeat_interval`, and when they are over; messages that are one. */
import { expect, test } from 'vitest';
import type { Policy } from '../../src/policy/policy.ts';
import type { Run, RunStatus } from '../../src/run/run.ts';
import type { Notification } from '../../src/settings/settings.ts';
import { aPolicy } from '../support/builders.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { activeRun, aWorld, letterOf, telling, toldTo, webhooks } from './world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const toOps = telling({ on: ['failed', 'partial', 'stopped', 'skipped', 'recovered'], to: 'ops' });
const counts = { planned: 1, succeeded: 0, failed: 1, skipped: 0, cancelled: 0 };

type World = Awaited<ReturnType<typeof aWorld>>;
let runs = 0;

/** A run of a policy ends now, for this reason, and its receivers are notified. */
async function end(world: World, policy: Policy, status: RunStatus, reason = 'timeout', deliver = true) {
  runs += 1;
  const at = world.clock.now();
  const run = await activeRun(world, policy, {
    id: `${policy.name}.${runs}`,
    counts,
    ...(status === 'skipped' && { status: 'queued' as const }),
  });
  if (reason !== '') await world.redis.hset(`{caretaker}:run:${run.id}:reasons`, `failed ${reason}`, 1);
  await world.records.runs.move(run, status, { at, notice: { type: 'run', run: run.id, status, at } });
  if (deliver) await world.notifier.deliverDue();
}

const textsOf = (receiver: Receiver) => receiver.received.map((_, at) => letterOf(receiver, at).data.text);

const opsWorld = async (rules?: Partial<Notification>) => {
  const ops = await startReceiver();
  return { ops, ...(await aWorld(webhooks({ ops }, undefined, rules))) };
};

test('a policy that fails every hour is reported once, again every four hours, and when it recovers', async () => {
  const { ops, ...world } = await opsWorld();
  for (let nth = 0; nth < 10; nth += 1) {
    await end(world, toOps, 'failed');
    await world.clock.advance(HOUR);
  }
  await end(world, toOps, 'succeeded', '');
  await end(world, toOps, 'succeeded', '');

  expect(toldTo(ops)).toEqual(['run.failed', 'run.failed', 'run.failed', 'run.recovered']);
  expect(textsOf(ops)[1]).toContain('5 runs in a row with failures, since 2026-11-21 12:00Z.');
  expect(textsOf(ops)[3]).toContain('nightly-sync recovered');
  expect(textsOf(ops)[3]).toContain('Before: 10 runs in a row with failures, since 2026-11-21 12:00Z.');
  expect(letterOf(ops, 3).data).toMatchObject({ streak: { runs: 10, since: '2026-11-21T12:00:00.000Z' } });
  expect(await world.redis.hgetall('{caretaker}:problems:policy:nightly-sync')).toEqual({});
});

test('a status or a reason that was not reported yet is reported at once, and only once', async () => {
  const { ops, ...world } = await opsWorld();
  for (const [status, reason] of [
    ['partial', 'timeout'],
    ['partial', 'conflict'],
    ['partial', 'timeout'],
    ['failed', 'conflict'],
    ['partial', 'conflict'],
    ['failed', 'timeout'],
  ] as const) {
    await end(world, toOps, status, reason);
    await world.clock.advance(MINUTE);
  }

  expect(toldTo(ops)).toEqual(['run.partial', 'run.partial', 'run.failed']);
});

test('with repeat_interval never there is no reminder, and each night is reported with the default', async () => {
  const never = await opsWorld({ group_wait: 0, repeat_interval: 'never' });
  const daily = await opsWorld();
  for (const { ops: _, ...world } of [never, daily])
    for (let night = 0; night < 3; night += 1) {
      await end(world, toOps, 'failed');
      await world.clock.advance(24 * HOUR);
    }

  expect(toldTo(never.ops)).toEqual(['run.failed']);
  expect(toldTo(daily.ops)).toEqual(['run.failed', 'run.failed', 'run.failed']);

  // What has no end is news each time.
  for (let night = 0; night < 2; night += 1) {
    await end(never, toOps, 'skipped', '');
    await never.clock.advance(24 * HOUR);
  }
  expect(toldTo(never.ops)).toEqual(['run.failed', 'run.skipped', 'run.skipped']);
});

test('a streak is reported from its Nth run on, and its recovery only to those who know of it', async () => {
  const [ops, boss] = [await startReceiver(), await startReceiver()];
  const world = await aWorld(webhooks({ ops, boss }));
  const on = ['failed', 'recovered'];
  const policy = telling({ on, to: 'ops' }, { on, to: 'boss', streak: 3 });
  const ends: RunStatus[] = [
    'failed',
    'failed',
    'succeeded',
    'failed',
    'skipped',
    'partial',
    'failed',
    'succeeded',
  ];
  for (const status of ends) await end(world, policy, status, status === 'succeeded' ? '' : 'timeout');

  expect(toldTo(ops)).toEqual(['run.failed', 'run.recovered', 'run.failed', 'run.recovered']);
  expect(toldTo(boss)).toEqual(['run.failed', 'run.recovered']);
  expect(textsOf(boss)[0]).toContain('3 runs in a row with failures');
});

test('a run over some sites, or one that skipped all, does not end a streak, and a retry of what failed does', async () => {
  const { ops, ...world } = await opsWorld();
  const { records, clock, notifier } = world;
  await end(world, toOps, 'failed');
  const succeed = async (id: string, changes: Partial<Run> = {}) => {
    const run = await activeRun(world, toOps, { id, ...changes });
    if (id !== 'frozen') await world.redis.rpush(`{caretaker}:run:${id}:only`, 'site-1');
    const at = clock.now();
    await records.runs.move(run, 'succeeded', {
      at,
      notice: { type: 'run', run: id, status: 'succeeded', at },
    });
    await notifier.deliverDue();
  };

  await succeed('one-site');
  await succeed('frozen', { counts: { planned: 3, succeeded: 0, failed: 0, skipped: 3, cancelled: 0 } });
  expect(toldTo(ops)).toEqual(['run.failed']);
  await succeed('retry', { retryOf: 'x' });
  expect(toldTo(ops)).toEqual(['run.failed', 'run.recovered']);
});

test('a receiver that asked for each success gets one message about a recovery', async () => {
  const { ops, ...world } = await opsWorld();
  const policy = telling({ on: ['failed', 'succeeded', 'recovered'], to: 'ops' });
  for (const status of ['succeeded', 'failed', 'succeeded', 'succeeded'] as const)
    await end(world, policy, status, status === 'failed' ? 'timeout' : '');

  expect(toldTo(ops)).toEqual(['run.succeeded', 'run.failed', 'run.recovered', 'run.succeeded']);
});

test('runs that are skipped every ten minutes are reported once in each interval', async () => {
  const { ops, ...world } = await opsWorld({ group_wait: 0, repeat_interval: HOUR });
  for (let nth = 0; nth < 7; nth += 1) {
    await end(world, toOps, nth % 2 === 0 ? 'skipped' : 'succeeded', '');
    await world.clock.advance(10 * MINUTE);
  }
  expect(toldTo(ops)).toEqual(['run.skipped', 'run.skipped']);
});

test('a clock that had been ahead by a month, and went back, silences no later problem', async () => {
  const { ops, ...world } = await opsWorld({ group_wait: 0, repeat_interval: HOUR });
  const ahead = { ...world, clock: { ...world.clock, now: () => world.clock.now() + 30 * 24 * HOUR } };
  await end(ahead, toOps, 'skipped', '');
  await end(world, toOps, 'skipped', '');
  expect(toldTo(ops)).toEqual(['run.skipped', 'run.skipped']);
});

test('messages within group_wait are one, with the last about each policy', async () => {
  const { ops, ...world } = await opsWorld({ group_wait: MINUTE });
  const other: Policy = { ...aPolicy({ name: 'reports' }), notify: toOps.notify };
  await end(world, toOps, 'partial', 'timeout', false);
  await world.notifier.tick();
  await world.clock.advance(30_000);
  await end(world, other, 'failed', 'conflict', false);
  await world.clock.advance(1);
  await end(world, toOps, 'failed', 'timeout', false);
  await world.notifier.tick();
  expect(await world.records.deliveries.list({ limit: 10 })).toEqual([]);
  await world.clock.advance(29_999);
  await world.notifier.tick();
  await world.notifier.deliverDue();

  expect(toldTo(ops)).toEqual(['summary']);
  const { data } = letterOf(ops);
  expect(data.text.split('\n').filter((line) => !line.startsWith('  '))).toEqual([
    '2 notifications: reports failed and nightly-sync failed',
    '- reports failed: of 1 target, 1 failed.',
    '- nightly-sync failed: of 1 target, 1 failed.',
  ]);
  expect(data).toMatchObject({ messages: [{ type: 'run.failed' }, { type: 'run.failed' }] });
  expect(await world.redis.keys('{caretaker}:hold*')).toEqual([]);
});

test('a process that is about to end does not wait for others, and a single message stays as it is', async () => {
  const { ops, ...world } = await opsWorld({ group_wait: MINUTE });
  await end(world, toOps, 'failed');
  expect(toldTo(ops)).toEqual(['run.failed']);
});

test('many messages are one that is bounded, and none is lost', async () => {
  const { ops, ...world } = await opsWorld({ group_wait: MINUTE });
  const each = telling({ on: ['cancelled'], to: 'ops' });
  for (let index = 0; index < 230; index += 1) await end(world, each, 'cancelled', '', false);
  await world.notifier.tick();
  await world.clock.advance(MINUTE);
  await world.notifier.tick();
  await world.notifier.deliverDue();

  const parts = ops.received.map(
    (_, at) => letterOf(ops, at).data as unknown as { text: string; messages: [] },
  );
  expect(parts.map(({ messages }) => messages.length)).toEqual([200, 30]);
  expect(parts[0]?.text).toContain('... and 180 more notifications.');
});
