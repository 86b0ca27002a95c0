/** A plan whose planner died is continued by the next one: nothing is repeated, missing or mixed. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import type { OperationId } from '../../../src/contract/operations.ts';
import { planRun } from '../../../src/engine/plan/planner.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import type { Run } from '../../../src/run/run.ts';
import { checkOf } from '../../jobs/check/policies.ts';
import { aGate, around, type Gate, partsOf } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';
import { sampleOf } from '../../support/sample.ts';
import { call } from '../person.ts';

/** Of all tests of a `describe`: each plans runs of policies of its own. */
let world: World;

const goingOn = new AbortController().signal;
const plan = (run: { id: string }, caretaker = world.caretaker) =>
  planRun(partsOf(caretaker), { kind: 'plan', run: run.id }, goingOn);

/** `npm test` lets a planner die only at every fifth such place. */
const EVERY = sampleOf(5, 1);

/** Where a planner dies: at a request or while it stores a part of the plan, before or after that. */
const points = ['before a request', 'after a request', 'before a part', 'after a part'] as const;
type Point = (typeof points)[number];

/** Makes every planner of this process die at one point of its work. */
function dying() {
  let death: { point: Point; left: number; gate: Gate } | undefined;
  const at = (point: Point): Promise<void> | undefined => {
    if (death?.point !== point) return undefined;
    death.left -= 1;
    return death.left === 0 ? death.gate.pass() : undefined;
  };
  const wrapped = async <Result>(what: 'request' | 'part', make: () => Result): Promise<Awaited<Result>> => {
    await at(`before a ${what}`);
    const result = await make();
    await at(`after a ${what}`);
    return result;
  };
  around(world.caretaker.link('default').client, 'call', (make) => wrapped('request', make) as never);
  around(world.caretaker.records.plans, 'add', (make) => wrapped('part', make));
  return {
    /** Plans until the planner dies at that point for the given time. False when the plan was completed before. */
    async planUntil(run: { id: string }, point: Point, times: number): Promise<boolean> {
      const gate = aGate();
      death = { point, left: times, gate };
      const isComplete = await Promise.race([gate.reached.then(() => false), plan(run).then(() => true)]);
      death = undefined;
      return !isComplete;
    },
  };
}

/** Everything that a plan stores. */
async function planOf(run: { id: string }) {
  const { records } = world.caretaker;
  const { status, counts } = (await records.runs.get(run.id)) as Run;
  const targets = await world.targets(run.id);
  return {
    status: status === 'running' || status === 'succeeded' ? 'planned' : status,
    counts,
    targets: targets.map(({ id, label, outcome, reason, findings }) => ({
      id,
      label,
      outcome,
      reason,
      findings,
    })),
    excluded: await records.targets.excluded(run.id, 0, 1_000),
    reasons: (await records.targets.reasons([run.id])).get(run.id),
    left: await world.caretaker.redis.store.exists(
      ...['progress', 'listed'].map((name) => `{caretaker}:run:${run.id}:${name}`),
    ),
  };
}

const requested = (operation: OperationId) => world.sandbox.journal.countOf(operation);

let policies = 0;
/** Fires a policy under a name that no other run of the world has. */
function fire(policy: Policy, only?: string[]): Promise<Run> {
  policies += 1;
  return world.fire({ ...policy, name: `policy-${policies}` }, only);
}

/** Fires a policy and plans it without interruption. */
async function plannedAtOnce(policy: Policy, only?: string[]) {
  const run = await fire(policy, only);
  await plan(run);
  return planOf(run);
}

describe('a check over a list of each site', () => {
  const select =
    '{ from: listSiteNotes, for_each: { list: listSites, where: site.id != "site-0003" }, where: \'!note.content.contains("kept")\' }';

  afterAll(() => world.stop());
  beforeAll(async () => {
    world = await startWorld({ before: quickSyncs, sites: 5, work: false });
    for (const site_id of world.sandbox.siteIds())
      for (const content of ['outdated', 'kept', 'old'])
        await call(world, 'createSiteNote', { site_id, body: { note: { content } } });
  });

  test.each(points)('is planned the same when a planner dies %s, whichever', async (point) => {
    const expected = await plannedAtOnce(checkOf(select));
    const { planUntil } = dying();

    let died = true;
    for (let times = 1; died; times += EVERY) {
      const run = await fire(checkOf(select));
      died = await planUntil(run, point, times);
      const [lists, notes] = [requested('listSites'), requested('listSiteNotes')];
      if (died) await plan(run);

      expect(await planOf(run)).toEqual(expected);
      if (!died) continue;
      // One page of sites at most, and the lists of the sites that were not processed.
      expect(requested('listSites') - lists).toBeLessThanOrEqual(1);
      const answered = point === 'after a request' || point.endsWith('part') ? 1 : 0;
      const processed = point.endsWith('part') ? times - 1 : Math.max(0, times - 2 - answered);
      expect(requested('listSiteNotes') - notes).toBeLessThanOrEqual(4 - Math.min(4, processed));
    }
    expect(expected).toMatchObject({ status: 'planned', left: 0 });
    expect(expected.counts.planned).toBeGreaterThanOrEqual(8);
    expect(expected.excluded.length).toBeGreaterThanOrEqual(5);
    expect(expected.excluded[0]).toMatchObject({ why: 'select.where does not hold' });
  });

  test('is completed by planners that die at every third request, each of which continues', async () => {
    const expected = await plannedAtOnce(checkOf(select));
    const run = await fire(checkOf(select));
    const { planUntil } = dying();
    const before = requested('listSiteNotes');

    let deaths = 0;
    while (await planUntil(run, 'before a request', 3)) deaths += 1;

    expect(deaths).toBe(3);
    expect(await planOf(run)).toEqual(expected);
    expect(requested('listSiteNotes') - before).toBe(4);
    // Each of the four planners counts its requests: one page of sites, and one list.
    expect((await world.caretaker.records.runs.get(run.id))?.plan?.requests).toBe(8);
  });

  test('over requested targets reports each of them once', async () => {
    const { notes } = await call(world, 'listSiteNotes', { site_id: 'site-0004' });
    const only = ['site-0001', 'site-0003', `site-0004/${notes[0]?.id}`, 'site-0004/none', 'nowhere'];
    const expected = await plannedAtOnce(checkOf(select), only);
    const { planUntil } = dying();

    let died = true;
    for (let times = 1; died; times += EVERY) {
      const run = await fire(checkOf(select), only);
      died = await planUntil(run, 'before a request', times);
      if (died) await plan(run);

      const { targets, ...rest } = await planOf(run);
      expect(rest).toEqual({ ...expected, targets: undefined, ...rest, counts: expected.counts });
      expect([...targets].sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(
        [...expected.targets].sort((a, b) => (a.id < b.id ? -1 : 1)),
      );
    }
    expect(expected.targets.map(({ id }) => id)).toEqual(expect.arrayContaining(only.slice(2)));
  });

  test('is not continued by a planner that was only slow: it adds nothing to what its successor makes', async () => {
    const slow = await world.another({ work: false });
    const expected = await plannedAtOnce(checkOf(select));
    const run = await fire(checkOf(select));
    const gate = aGate();
    let lists = 0;
    around(slow.link('default').client, 'call', async (make, id) => {
      const answer = await make();
      if (id === 'listSiteNotes') lists += 1;
      if (lists === 3) await gate.pass();
      return answer as never;
    });
    const overtaken = plan(run, slow);
    await gate.reached;
    await plan(run);

    gate.open();
    await overtaken;

    expect(await planOf(run)).toEqual(expected);
    expect((await world.caretaker.records.runs.get(run.id))?.plan?.targets).toBe(0);
  });
});

describe('a list of several pages', () => {
  const policy = (changes: Partial<Policy> = {}) =>
    aPolicy({ select: { filters: {}, where: '!site.url.contains("7")' }, ...changes });

  afterAll(() => world.stop());
  beforeAll(async () => {
    world = await startWorld({ before: quickSyncs, sites: 330, work: false });
  });

  test('is read on at the page at which each planner died', async () => {
    const expected = await plannedAtOnce(policy());
    const run = await fire(policy());
    const { planUntil } = dying();
    const before = requested('listSites');

    let deaths = 0;
    // Each reads the page again at which the one before stopped, and the next one.
    while (await planUntil(run, 'before a request', 3)) deaths += 1;

    expect(deaths).toBe(2);
    expect(await planOf(run)).toEqual(expected);
    expect(requested('listSites') - before).toBe(6);
  });

  test('has no more targets than its limits allow, counted over all planners', async () => {
    const { planUntil } = dying();
    for (const [changes, end] of [
      [{ select: { filters: {}, limit: 250 } }, { status: 'running', plan: { targets: 250 } }],
      [
        { limits: { concurrency: 20, maxTargets: 220, maxPercent: 100 } },
        { status: 'stopped', detail: 'The plan has more than 220 targets (limits.max_targets).' },
      ],
      [
        { limits: { concurrency: 20, maxTargets: 1_000, maxPercent: 60 } },
        { status: 'stopped', detail: expect.stringMatching(/of 330 targets, more than 60%/) },
      ],
    ] as const) {
      const run = await fire(policy(changes as Partial<Policy>));
      expect(await planUntil(run, 'before a request', 3)).toBe(true);
      await plan(run);
      expect(await world.caretaker.records.runs.get(run.id)).toMatchObject(end);
    }
  });

  test('has no more targets of one client than its limit allows, counted over all planners', async () => {
    const limits = { concurrency: 20, maxTargets: 1_000, maxPercent: 100 };
    const { sites } = await call(world, 'listSites', { perPage: 100, page: 1 });
    const { client } = sites.find((site) => site.client) ?? {};
    const all = await plannedAtOnce(policy({ select: { filters: { client_id: { eq: client?.id ?? '' } } } }));
    const most = all.counts.planned - 1;
    const perClient = { maxTargets: Math.max(1, most) };
    const limited = policy({ select: { filters: {} }, limits: { ...limits, perClient } });
    const expected = await plannedAtOnce(limited);
    const { planUntil } = dying();

    const run = await fire(limited);
    await planUntil(run, 'before a request', 3);
    await plan(run);

    expect(await planOf(run)).toEqual(expected);
    expect(expected.status).toBe('stopped');
  });

  test('that becomes longer or shorter in between hides no site: new ones are found as well', async () => {
    const run = await fire(policy({ select: { filters: {} } }));
    const sites = world.sandbox.siteIds();
    const { planUntil } = dying();
    await planUntil(run, 'before a request', 3);
    const seen = (await world.targets(run)).map(({ id }) => id);
    const added = await call(world, 'createSite', {
      body: { site: { url: 'https://added.example' } },
    } as never);
    for (const site_id of seen.slice(0, 2)) await call(world, 'deleteSite', { site_id });

    await plan(run);

    const planned = (await world.targets(run)).map(({ id }) => id);
    expect(new Set(planned).size).toBe(planned.length);
    const { site } = added as unknown as { site: { id: string } };
    expect([...planned].sort()).toEqual([...sites, site.id].sort());
  });
});

test('no announcement is withdrawn of a target that the interrupted plan had already', async () => {
  world = await startWorld({ before: quickSyncs, sites: 3, work: false });
  onTestFinished(() => world.stop());
  const { sandbox, caretaker } = world;
  sandbox.staging.clear();
  for (let i = 0; i < 120; i += 1) sandbox.staging.make(`site-000${(i % 3) + 1}`, 15);
  const options = { operation: 'deleteStagingSite', confirm: 'deleteStagingSite', grace: '3d' };
  const policy = aPolicy({
    name: 'old-copies',
    job: 'api-call',
    select: { from: 'listStagingSites', filters: {} },
    options: apiCall.options.parse(options),
  });
  // Of the first part, which is all that the interrupted plan stores, some are announced.
  const working = caretaker.engine.work(20);
  await world.ended(await world.fire({ ...policy, select: { ...policy.select, limit: 20 } }));
  await working.stop();
  const { planUntil } = dying();

  const run = await world.fire(policy);
  expect(await planUntil(run, 'after a part', 1)).toBe(true);
  await plan(run);

  const ids = (await world.targets(run)).map(({ id }) => id);
  expect(ids).toHaveLength(120);
  expect(ids.filter((id) => id.startsWith('announcement'))).toEqual([]);
});
