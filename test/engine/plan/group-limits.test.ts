/** `limits.per_client` and `limits.per_tag`, from the plan to the end of the run. */
import { afterEach, expect, test } from 'vitest';
import { previewPlan } from '../../../src/engine/plan/preview.ts';
import { partsOf } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, until, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';
import { call } from '../person.ts';

let world: World;
afterEach(() => world.stop());

const limits = { concurrency: 20, maxTargets: 1000, maxPercent: 100 };

/** The clients of the sites, by the sites' ids. */
async function clientsOf(): Promise<Map<string, string | undefined>> {
  const { sites } = await call(world, 'listSites', { perPage: 100 });
  return new Map(sites.map(({ id, client }) => [id, client?.id]));
}

test('of each client, at most so many targets are in flight, and all are worked on', async () => {
  world = await startWorld({ leaps: false, before: quickSyncs, sites: 12 });
  const sites = world.sandbox.siteIds().map((id) => world.sandbox.site(id));
  for (const site of sites) site.syncTakes(86_400_000);
  const clients = await clientsOf();
  const run = await world.fire(aPolicy({ limits: { ...limits, perClient: { concurrency: 1 } } }));
  const { targets, runs } = world.caretaker.records;
  const following = async () => (await targets.inState(run.id, 'following', 100)).map(({ id }) => id);

  let seen = 0;
  await until(world, async () => {
    const now = await following();
    const having = now.flatMap((id) => clients.get(id) ?? []);
    expect(new Set(having).size).toBe(having.length);
    seen = Math.max(seen, now.length);
    for (const id of now) world.sandbox.site(id).finishSync();
    return (await runs.get(run.id))?.finishedAt !== undefined;
  });

  const end = await world.ended(run);
  expect(end.status).toBe('succeeded');
  expect(end.counts.succeeded + end.counts.skipped).toBe(12);
  expect(seen).toBeGreaterThan(1);
});

test('a plan with more targets of a client than allowed stops the run, and sends nothing', async () => {
  world = await startWorld({ leaps: false, before: quickSyncs, sites: 30 });
  const policy = aPolicy({ limits: { ...limits, perClient: { maxTargets: 1 } } });
  const words =
    /^The plan has more than 1 targets with the client ".+" \(limits\.per_client\.max_targets\)\.$/;

  expect((await previewPlan(partsOf(world.caretaker), policy)).stoppedBy).toMatch(words);
  const end = await world.ended(await world.fire(policy));
  expect(end).toMatchObject({ status: 'stopped', detail: expect.stringMatching(words) });
  expect(world.sandbox.journal.effects).toEqual([]);
});
