/** `redis.prefix`: environments in one Redis see nothing of each other. */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { openCaretaker } from '../../src/app/caretaker.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { keysLike } from '../../src/redis/store.ts';
import { isFinal } from '../../src/run/moves.ts';
import { aPolicy } from '../support/builders.ts';
import { until } from '../support/caretaker.ts';
import { keptLog } from '../support/quiet.ts';
import { worldOfTest } from '../support/world-of-test.ts';

test('a run, its queue and its events use only keys and channels with the prefix', async () => {
  const world = await worldOfTest({ sites: 3, work: false });
  const raw = new Redis({ path: world.redis.socketPath });
  onTestFinished(() => raw.disconnect());
  const before = new Set(await raw.keys('*'));
  const { settings } = world.caretaker;
  const staging = await openCaretaker({
    settings: { ...settings, redis: { ...settings.redis, prefix: 'staging' } },
    log: world.log,
    clock: world.clock,
  });
  onTestFinished(() => staging.close());
  const heard: string[] = [];
  const stop = await staging.records.listen(({ type }) => heard.push(type));
  onTestFinished(stop);
  const working = staging.engine.work(5);
  onTestFinished(() => working.stop());

  const policy = aPolicy({ record: { customWork: { title: 'Work' } } } as never);
  const { id } = await staging.engine.fire(policy, { trigger: 'manual', scheduledFor: world.clock.now() });
  await until(world, async () => {
    const run = await staging.records.runs.get(id);
    return run !== undefined && isFinal(run.status);
  });

  expect((await staging.records.runs.get(id))?.counts).toMatchObject({ planned: 3, succeeded: 3 });
  expect(heard).toContain('target.ended');
  expect((await staging.queues.counts())['actions']).toEqual({ waiting: 0, active: 0 });
  const added = (await raw.keys('*')).filter((key) => !before.has(key));
  expect(added.length).toBeGreaterThan(10);
  expect(added.filter((key) => !key.startsWith('staging:{caretaker}:'))).toEqual([]);
  expect(await world.caretaker.records.runs.list({ limit: 10 })).toEqual([]);
  const { store, close } = await connectRedis(
    { kind: 'url', url: world.redis.socketPath, prefix: 'staging' },
    '/nowhere',
    keptLog(),
  );
  onTestFinished(close);
  const found: string[] = [];
  for await (const key of keysLike(store, `{caretaker}:run:${id}`)) found.push(key);
  expect(found).toEqual([`{caretaker}:run:${id}`]);
});
