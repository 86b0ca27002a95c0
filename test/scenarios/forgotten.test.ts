import { afterEach, expect, test } from 'vitest';
import type { Target } from '../../src/run/run.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { around } from '../support/between.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';

let world: World;
afterEach(() => world.stop());

test('syncs that the service no longer knows end as unknown after two polls each, and the policy can run again', async () => {
  world = await startWorld({ sites: 12, rateLimit: 0, budget: { requestsPerMinute: 200, reserve: 0 } });
  const { targets } = world.caretaker.records;
  const ids = world.sandbox.siteIds();
  for (const id of ids) world.sandbox.site(id).syncTakes(3_600_000);
  const fired = await world.fire(aPolicy());
  await until(world, async () => (await targets.inState(fired.id, 'following', 100)).length === ids.length);
  await world.sandbox.stop();

  const { port } = new URL(world.sandbox.url);
  const renewed = await startSandbox({ sites: 12, rateLimit: 0, clock: world.clock, port: Number(port) });
  try {
    // The run shows meanwhile why it makes no progress.
    const lost = new Map<string, Target>();
    around(targets, 'move', (move, _run, target) => {
      if ('lostAt' in target) lost.set(target.id, target);
      return move();
    });
    world.clock.leap(120_000);
    const run = await world.ended(fired);

    expect([...lost.keys()].sort()).toEqual(ids);
    for (const waiting of lost.values())
      expect(waiting).toMatchObject({ state: 'following', detail: expect.stringContaining('HTTP 404') });

    expect(run).toMatchObject({ status: 'failed', counts: { failed: ids.length } });
    expect(new Set((await world.targets(run)).map(({ reason }) => reason))).toEqual(
      new Set(['unknown-effect']),
    );
    const ended = await world.targets(run);
    expect(ended.filter((target) => 'lostAt' in target)).toEqual([]);
    const [{ detail } = {}] = ended;
    expect(detail).toContain('The service no longer knows the sync: its snapshot is not found (HTTP 404)');
    const looks = renewed.journal.requests.filter(({ operation }) => operation === 'showSite');
    expect(looks.length).toBeLessThan(3 * ids.length);
    expect(renewed.journal.effects).toEqual([]);
    for (const id of ids) renewed.site(id).syncTakes(1_000);
    // The policy can run again: a new run does what this one could not confirm as done.
    expect(await world.ended(await world.fire(aPolicy()))).toMatchObject({ counts: { planned: ids.length } });
    expect(renewed.journal.effectsOf('syncSite')).toHaveLength(ids.length);
  } finally {
    await renewed.stop();
  }
});

test('work that the service did not show for a short time is followed as before', async () => {
  world = await startWorld({ sites: 1, rateLimit: 0 });
  const { targets } = world.caretaker.records;
  const [id = ''] = world.sandbox.siteIds();
  world.sandbox.site(id).syncTakes(3_600_000);
  const run = await world.fire(aPolicy());
  await until(world, async () => (await targets.inState(run.id, 'following', 1)).length === 1);

  const at = world.clock.now();
  const [target] = await targets.inState(run.id, 'following', 1);
  if (!target) throw new Error('it is no longer followed');
  await targets.move(run, { ...target, lostAt: at, detail: 'Not found.' }, { from: ['following'], at });

  world.clock.leap(60_000);
  await until(world, async () => (await targets.get(run.id, id))?.lostAt === undefined);
  expect(await targets.get(run.id, id)).not.toHaveProperty('detail');
  world.sandbox.site(id).finishSync();
  await world.ended(run);
  expect(await world.reasons(run)).toEqual({ [id]: 'done' });
});
