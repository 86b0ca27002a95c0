/** A run whose plan waits looks at its targets again before it acts on them. */
import { afterEach, expect, test } from 'vitest';
import { planHashOf, recheckTargets } from '../../../src/engine/plan/recheck-run.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { around, partsOf } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, until, type World } from '../../support/caretaker.ts';
import { healthySites } from '../../support/quick-syncs.ts';

let world: World;
afterEach(() => world.stop());

/** A running run of which only the first target is in progress, and its syncs take long. */
async function runThatWaits(changes: Partial<Policy>) {
  world = await startWorld({ before: healthySites, sites: 8, speedUp: 20, rateLimit: 0 });
  for (const id of world.sandbox.siteIds()) {
    const site = world.sandbox.site(id);
    site.syncTakes(100 * 3_600_000);
    site.lastSynced(30 * 3_600_000);
  }
  const policy = aPolicy({
    limits: { concurrency: 1, maxTargets: 100, maxPercent: 100 },
    timeout: { targetMs: 100 * 3_600_000, runMs: 200 * 3_600_000 },
    ...changes,
  });
  const now = world.clock.now();
  const fired = await world.caretaker.engine.fire(policy, {
    trigger: 'manual',
    scheduledFor: now,
    keepsFacts: true,
  });
  const run = await world.ended(
    fired,
    ({ status, decidedAt }) => status === 'running' && decidedAt !== undefined,
  );
  // Its request was answered: one that is on its way while the clock leaps would be given up, and the next target started.
  await until(world, async () => (await world.targets(run)).some(({ state }) => state === 'following'));
  const pending = (await world.targets(run)).filter(({ state }) => state === 'pending');
  return { run, pending: pending.map(({ id }) => id) };
}

const again = async (run: Parameters<typeof recheckTargets>[1], ids: readonly string[]) =>
  recheckTargets(partsOf(world.caretaker), run, ids);

test('a target whose facts have changed ends as changed-since-plan, with what differs, and no other ends', async () => {
  const { run, pending } = await runThatWaits({
    select: { filters: { connection_status: { eq: 'connected' } } },
  });
  const [locked = '', moved = '', off = '', ...others] = pending;
  expect(others.length).toBeGreaterThan(1);
  let pages = 0;
  around(world.caretaker.link('default').client, 'call', (call, operation, _input, options) => {
    // Following lists sites too, in a class of its own.
    if (operation === 'listSites' && options.requestClass === 'action') pages += 1;
    return call();
  });
  expect(await again(run, pending)).toEqual([]);
  expect(pages).toBe(1);

  world.sandbox.site(locked).lock(true);
  world.sandbox.site(moved).isCalled({ url: 'https://moved.example' });
  world.sandbox.site(off).disconnect();

  expect((await again(run, pending)).sort()).toEqual([locked, moved, off].sort());
  const targets = new Map((await world.targets(run)).map((target) => [target.id, target]));
  expect(targets.get(locked)).toMatchObject({
    outcome: 'skipped',
    reason: 'changed-since-plan',
    detail: 'site.locked: false → true',
  });
  expect(targets.get(moved)?.detail).toMatch(/^its label: \S+ → https:\/\/moved\.example$/);
  // The filters no longer select it, which is explained by the field that they compare.
  expect(targets.get(off)?.detail).toBe('site.connection.status: connected → disconnected');
  for (const id of others) expect(targets.get(id)?.outcome).not.toBe('skipped');
});

test('time that passes changes no decision: the plan is made again as of its own time', async () => {
  const { run, pending } = await runThatWaits({
    options: { mode: 'stale', max_age: 20 * 3_600_000 },
    select: { filters: {}, where: 'site.sync.last_sync_at > now - duration("36h")' },
  });
  world.clock.leap(8 * 3_600_000);

  expect(await again(run, pending)).toEqual([]);
  const [synced = ''] = pending;
  world.sandbox.site(synced).lastSynced(60_000);

  expect(await again(run, pending)).toEqual([synced]);
  const target = (await world.targets(run)).find(({ id }) => id === synced);
  expect(target?.detail).toMatch(/^site\.sync\.last_sync_at: \S+ → \S+/);
});

test('the hash of a plan depends on its targets and facts, and not on how far the run is', async () => {
  const { run } = await runThatWaits({});
  const hash = await planHashOf(world.caretaker, run);
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  await world.caretaker.engine.cancel(run.id);
  for (const { id } of await world.targets(run)) world.sandbox.site(id).finishSync();
  const ended = await world.ended(run);
  expect(await planHashOf(world.caretaker, ended)).toBe(hash);
});
