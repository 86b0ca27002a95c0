/** How soon work continues after a failure, with workers in separate processes. */
import type { ChildProcess } from 'node:child_process';
import { afterEach, expect, test } from 'vitest';
import { supervisorLease } from '../../src/records/lock-store.ts';
import type { Run } from '../../src/run/run.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';
import { atWork, kill, start } from './processes.ts';

/** Three times real time: the start of a process counts threefold, and still fits. */
const SPEED = 3;
const SECOND = 1_000;

let world: World;
const children = new Set<ChildProcess>();
afterEach(async () => {
  for (const child of children) await kill(child);
  children.clear();
  await world.stop();
});

/** A worker; resolves when it is ready. */
async function startWorker(): Promise<ChildProcess> {
  const { caretaker, clock } = world;
  const facts = { settings: caretaker.settings, clock: clock.shared() };
  const child = start('./daemon.mjs', facts);
  children.add(child);
  await atWork(child);
  return child;
}

/** A run of `sites`, all of which one of the workers has started to sync. */
async function syncing(sites: number, takesMs: number) {
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).syncTakes(takesMs);
  const run = await world.fire(aPolicy());
  await until(world, () => world.sandbox.journal.effectsOf('syncSite').length === sites);
  return run;
}

const ended = async (run: Run) => {
  const { succeeded = 0 } = (await world.caretaker.records.runs.get(run.id))?.counts ?? {};
  return succeeded;
};

test('after SIGKILL of the only worker and a restart, the result of all its work is known within 35 s', async () => {
  world = await startWorld({ sites: 6, work: false, speedUp: SPEED });
  const first = await startWorker();
  // One answer comes too late for it.
  world.sandbox.failNext({ operation: 'syncSite' }, 'slow');
  const run = await syncing(6, 5 * SECOND);
  await kill(first);
  const killed = world.clock.now();
  await startWorker();

  const end = await world.ended(run);

  expect(end).toMatchObject({ status: 'succeeded', counts: { succeeded: 6 } });
  expect((end.finishedAt ?? 0) - killed).toBeLessThan(35 * SECOND);
  expect(world.sandbox.journal.effectsOf('syncSite')).toHaveLength(6);
});

test('after SIGKILL of the worker that followed, another one records ends within 10 s', async () => {
  // In real time: a lease expires by Redis's clock.
  world = await startWorld({ sites: 6, work: false, speedUp: 1 });
  const workers = [await startWorker(), await startWorker()];
  const run = await syncing(6, 600 * SECOND);
  const { records } = world.caretaker;
  await until(world, async () => (await records.targets.inState(run.id, 'following', 9)).length === 6);
  let owner: string | undefined;
  await until(world, async () => {
    owner = await records.locks.holder(supervisorLease('default'));
    return owner !== undefined;
  });
  const follower = workers.find(({ pid }) => owner?.includes(`.${pid}.`));
  if (!follower) throw new Error(`Nobody of ours follows, but ${owner}.`);
  await kill(follower);
  const killed = world.clock.now();
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).finishSync();

  const end = await world.ended(run);

  expect(end).toMatchObject({ status: 'succeeded', counts: { succeeded: 6 } });
  expect((end.finishedAt ?? 0) - killed).toBeLessThan(10 * SECOND);
});

test('after Redis was killed and is back, work continues within 10 s, and nothing is lost', async () => {
  world = await startWorld({ sites: 6, work: false, speedUp: SPEED });
  await startWorker();
  const run = await syncing(6, 600 * SECOND);
  await world.redis.kill();
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).finishSync();
  await world.redis.restart();
  const back = world.clock.now();

  await until(world, async () => (await ended(run)) > 0);

  expect(world.clock.now() - back).toBeLessThan(10 * SECOND);
  expect(await world.ended(run)).toMatchObject({ status: 'succeeded', counts: { succeeded: 6 } });
  expect(world.sandbox.journal.effectsOf('syncSite')).toHaveLength(6);
});
