import { afterEach, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { aPolicy, startWorld, until, type World } from '../support/caretaker.ts';

let world: World;
afterEach(() => world.stop());

test('syncs that the service has forgotten end as unknown after two looks each, and the policy can run again', async () => {
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
    const run = await world.ended(fired);

    expect(run).toMatchObject({ status: 'failed', counts: { failed: ids.length } });
    expect(new Set((await world.targets(run)).map(({ reason }) => reason))).toEqual(
      new Set(['unknown-effect']),
    );
    const [{ detail } = {}] = await world.targets(run);
    expect(detail).toContain('The service no longer knows the sync: its snapshot is not found (HTTP 404)');
    const looks = renewed.journal.requests.filter(({ operation }) => operation === 'showSite');
    expect(looks.length).toBeLessThan(3 * ids.length);
    expect(renewed.journal.effects).toEqual([]);
    // The policy is free again: a new run does what this one could not show to be done.
    expect(await world.ended(await world.fire(aPolicy()))).toMatchObject({ counts: { planned: ids.length } });
    expect(renewed.journal.effectsOf('syncSite')).toHaveLength(ids.length);
  } finally {
    await renewed.stop();
  }
});
