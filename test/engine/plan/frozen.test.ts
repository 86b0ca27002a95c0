/** Freezes of a client, a tag, a job or an account. */
import { afterEach, describe, expect, test } from 'vitest';
import { FrozenError } from '../../../src/engine/fire.ts';
import { frozenEnd } from '../../../src/engine/plan/owners.ts';
import { previewPlan } from '../../../src/engine/plan/preview.ts';
import type { FreezeScope } from '../../../src/records/freeze-scope.ts';
import { around, partsOf } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, until, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';
import { call } from '../person.ts';

let world: World;
afterEach(() => world.stop());

const HOUR = 3_600_000;

const freeze = (scope: FreezeScope, changes: { reason?: string } = {}) => {
  const at = world.clock.now();
  return world.caretaker.records.freeze.add({ scope, at, by: 'anna', until: at + HOUR, ...changes });
};

const sitesOf = async () => (await call(world, 'listSites', { perPage: 100 })).sites;

/** A tag that some sites have, and the ids of those. */
async function aTag() {
  const sites = await sitesOf();
  const tag = sites.flatMap(({ tags }) => tags ?? [])[0];
  if (!tag) throw new Error('no site has a tag');
  const having = sites.filter(({ tags }) => tags?.some(({ id }) => id === tag.id)).map(({ id }) => id);
  return { tag: { id: tag.id, name: tag.name ?? '' }, having, all: sites.length };
}

const skipped = async (run: Parameters<World['targets']>[0]) =>
  (await world.targets(run)).filter(({ reason }) => reason === 'frozen');

test('sites with a frozen tag are skipped, the others are worked on, and a lifted freeze ends that', async () => {
  world = await startWorld({ before: quickSyncs, sites: 20 });
  const { tag, having, all } = await aTag();
  expect(having.length).toBeLessThan(all);
  const added = await freeze({ tag: tag.name.toUpperCase() }, { reason: 'the sale' });

  const run = await world.fire(aPolicy());
  await world.ended(run);

  const frozen = await skipped(run);
  // Some of the sites cannot be synced anyway.
  expect(frozen.length).toBeGreaterThan(0);
  expect(having).toEqual(expect.arrayContaining(frozen.map(({ id }) => id)));
  expect(frozen[0]).toMatchObject({
    reason: 'frozen',
    detail: expect.stringMatching(/^The tag ".+" is frozen by anna from .+ until .+ \(the sale\)\.$/),
  });
  const synced = world.sandbox.journal.effectsOf('syncSite');
  expect(synced.length).toBeGreaterThan(0);
  expect(synced.filter((id) => having.includes(id))).toEqual([]);

  expect(await world.caretaker.records.freeze.lift(added.id, world.clock.now())).toMatchObject({
    id: added.id,
  });
  const next = await world.fire(aPolicy());
  await world.ended(next);
  expect(await skipped(next)).toEqual([]);
});

test('a plan shows what a freeze leaves out, and that a freeze of the job starts no run', async () => {
  world = await startWorld({ before: quickSyncs, sites: 20, work: false });
  const { tag, having } = await aTag();
  await freeze({ tag: tag.id });
  await freeze({ job: 'site-sync' });

  const { ended, warnings } = await previewPlan(partsOf(world.caretaker), aPolicy());
  const frozen = ended.filter(({ reason }) => reason === 'frozen');
  expect(frozen.length).toBeGreaterThan(0);
  expect(having).toEqual(expect.arrayContaining(frozen.map(({ id }) => id)));
  expect(warnings).toEqual([
    expect.stringMatching(/^No run starts now, because the job site-sync is frozen by anna from/),
  ]);
});

test('runs that have been planned continue, as with a freeze of everything', async () => {
  world = await startWorld({ before: quickSyncs, sites: 5, work: false });
  const run = await world.fire(aPolicy());
  const working = world.caretaker.engine.work(5);
  const { runs } = world.caretaker.records;
  await until(world, async () => (await runs.get(run.id))?.status === 'running');
  for (const { client } of await sitesOf()) if (client?.id) await freeze({ client: client.id });
  await world.ended(run);
  await working.stop();
  expect(await skipped(run)).toEqual([]);
});

test('a site of which the service does not show the client counts as frozen', async () => {
  world = await startWorld({ before: quickSyncs, sites: 3 });
  around(world.caretaker.link('default').client, 'call', async (send, id) => {
    const answer = (await send()) as { sites?: object[]; site?: object };
    if (id !== 'listSites' && id !== 'showSite') return answer as never;
    for (const site of answer.sites ?? [answer.site ?? {}]) Reflect.deleteProperty(site, 'client');
    return answer as never;
  });
  await freeze({ client: 'ACME' });
  const run = await world.fire(aPolicy());
  await world.ended(run);
  expect((await skipped(run)).map(({ detail }) => detail)).toEqual(
    Array(3).fill(
      expect.stringMatching(
        /^The service does not show its client or tags, and the client "ACME" is frozen by anna/,
      ),
    ),
  );
});

test('a freeze of a job in an account refuses runs of its policies only, and is in their state; --ignore-freeze starts one', async () => {
  world = await startWorld({ before: quickSyncs, sites: 2, work: false });
  const { policies, runs } = world.caretaker.records;
  await freeze({ job: 'site-sync', account: 'other' });
  await freeze({ job: 'site-sync', tag: 'Premium' });
  await expect(world.fire(aPolicy({ name: 'free' }))).resolves.toMatchObject({ status: 'queued' });
  const scope = { job: 'site-sync', account: 'default' };
  const added = await freeze(scope);
  const refused = expect(world.fire(aPolicy({ name: 'frozen' }))).rejects;
  await refused.toThrow(FrozenError);
  await refused.toThrow('the account default and the job site-sync is frozen by anna');
  await refused.toThrow(`"caretaker freeze end ${added.id}" ends that`);
  const states = await policies.many([
    { name: 'sync', account: 'default', job: 'site-sync' },
    { name: 'report', account: 'default', job: 'report-dispatch' },
  ]);
  expect(states.get('sync')?.freezes?.pauses).toMatchObject([{ by: 'anna', scope }]);
  expect(states.get('report')?.freezes).toBeUndefined();

  const firing = { trigger: 'manual', scheduledFor: world.clock.now(), ignoreFreeze: true } as const;
  const run = await world.caretaker.engine.fire(aPolicy({ name: 'frozen' }), firing);
  expect(await runs.get(run.id)).toMatchObject({ ignoresFreezes: true });
});

describe('which targets a freeze holds for', () => {
  const one = (scope: FreezeScope) => ({ id: '1', scope, at: 0, by: 'anna', until: 1 });
  const acme = { id: '7', names: ['ACME', 'Jo Doe'] };
  const gold = { id: '9', names: ['Gold'] };
  const holds = (scope: FreezeScope, owner: Parameters<typeof frozenEnd>[1]) =>
    frozenEnd([one(scope)], owner) !== undefined;

  test('a client by its id, its company or its name; a tag by its id or name', () => {
    for (const client of ['7', 'acme', 'Jo Doe']) expect(holds({ client }, { client: acme })).toBe(true);
    expect(holds({ client: 'Acme Ltd' }, { client: acme })).toBe(false);
    expect(holds({ client: '7' }, { client: null })).toBe(false);
    expect(holds({ tag: 'gold' }, { tags: [gold] })).toBe(true);
    expect(holds({ tag: 'gold' }, { tags: [] })).toBe(false);
  });

  test('all conditions have to hold; one that is not shown may hold', () => {
    expect(holds({ client: '7', tag: '9' }, { client: acme, tags: [gold] })).toBe(true);
    expect(holds({ client: '7', tag: '9' }, { client: acme, tags: [] })).toBe(false);
    expect(holds({ client: '7', tag: '9' }, { client: acme })).toBe(true);
    expect(holds({ client: '8', tag: '9' }, { client: acme })).toBe(false);
    expect(holds({ client: '7' }, {})).toBe(true);
  });
});
