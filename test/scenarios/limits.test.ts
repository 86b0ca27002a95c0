/** Only whole runs show that limits, refusals and operators end them with an outcome for each target. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { decideOverlap } from '../../src/engine/fire.ts';
import type { Overlap } from '../../src/policy/policy.ts';
import { aPolicy, aRun, aSchedule } from '../support/builders.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';
import { healthySites, quickSyncs } from '../support/quick-syncs.ts';

let world: World;
let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
  stop = undefined;
});

const limits = { concurrency: 20, maxTargets: 1000, maxPercent: 100 };

/** Starts the world of one test. */
async function start(...given: Parameters<typeof startWorld>): Promise<void> {
  world = await startWorld({ leaps: false, ...given[0] });
  stop = world.stop;
}

describe('in an account with three sites', () => {
  let ofThree: World;
  beforeAll(async () => {
    ofThree = await startWorld({ leaps: false, sites: 3, before: healthySites });
  });
  afterAll(() => ofThree.stop());

  const byId = { id: { eq: 'site-0001' } };
  test.each([
    [{ maxTargets: 3 }, {}, undefined, 3],
    [{ maxTargets: 2 }, {}, 'The plan has more than 2 targets (limits.max_targets).', 0],
    [
      { maxPercent: 33 },
      byId,
      expect.stringMatching(/1 of 3 targets, more than 33% \(limits.max_percent\)/),
      0,
    ],
    [{ maxPercent: 34 }, byId, undefined, 1],
  ])('a plan with %o and the filters %o ends with %s', async (changes, filters, stoppedBy, synced) => {
    const before = ofThree.sandbox.journal.effects.length;
    const policy = aPolicy({ select: { filters }, limits: { ...limits, ...changes } });

    const preview = await ofThree.caretaker.engine.preview(policy);
    const run = await ofThree.ended(await ofThree.fire(policy));

    expect([run.status, run.detail]).toEqual([stoppedBy ? 'stopped' : 'succeeded', stoppedBy]);
    expect(preview.stoppedBy === undefined).toBe(stoppedBy === undefined);
    const outcomes = (await ofThree.targets(run)).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === 'succeeded')).toHaveLength(synced);
    expect(outcomes).not.toContain(undefined);
    expect(ofThree.sandbox.journal.effects).toHaveLength(before + synced);
  });

  test.each([
    [1, 'partial', 3],
    [2, 'stopped', 2],
  ])('with stop_after_failures: 2 and %i failures, the run ends as %s', async (failing, status, synced) => {
    const { sandbox, caretaker } = ofThree;
    const before = sandbox.journal.effects.length;
    const sort = 'created_at,asc';
    const { client } = caretaker.link('default');
    const { sites } = await client.call('listSites', { sort }, { requestClass: 'person' });
    for (const { id } of sites.slice(0, failing)) sandbox.site(id).failNextSync('The disk is full.');
    const stopping = { ...limits, concurrency: 1, stopAfterFailures: { count: 2 } };

    const run = await ofThree.ended(
      await ofThree.fire(aPolicy({ select: { filters: {}, sort }, limits: stopping })),
    );

    expect([run.status, run.counts.failed]).toEqual([status, failing]);
    expect(sandbox.journal.effects).toHaveLength(before + synced);
  });

  test('a named target that filters leave out is reported with these', async () => {
    const [site = ''] = ofThree.sandbox.siteIds();
    const filters = { url: { contains: '.' }, connection_status: { eq: 'disconnected' } };
    const { ended } = await ofThree.caretaker.engine.preview(aPolicy({ select: { filters } }), [site]);

    expect(ended).toMatchObject([
      {
        id: site,
        label: expect.stringMatching(/^https:/),
        why: 'It is in the account; select.filters leaves it out: connection_status eq disconnected.',
      },
    ]);
  });
});

describe('safety limits', () => {
  test('too many failures stop the run: work in flight is followed to its end, and nothing new is started', async () => {
    await start({ sites: 19, before: quickSyncs });
    for (const id of world.sandbox.siteIds()) world.sandbox.site(id).failNextSync('The disk is full.');
    const policy = aPolicy({ limits: { ...limits, concurrency: 3, stopAfterFailures: { count: 3 } } });

    const run = await world.ended(await world.fire(policy));

    expect(run.status).toBe('stopped');
    expect(run.detail).toMatch(/^Stopped after \d of 19 targets failed/);
    const targets = await world.targets(run);
    const begun = targets.filter(({ reason }) => reason === 'task-failed');
    expect(begun.length).toBeGreaterThanOrEqual(3);
    expect(begun.length).toBeLessThan(8);
    expect(begun[0]?.detail).toBe('The disk is full.');
    expect(world.sandbox.journal.effectsOf('syncSite')).toHaveLength(begun.length);
    expect(targets.filter(({ reason }) => reason === 'safety-limit').length + begun.length).toBe(
      targets.filter(({ reason }) => reason !== 'not-eligible').length,
    );
  });

  test('a run over its time limit ends with an outcome for every site', async () => {
    await start({ sites: 6 });
    for (const id of world.sandbox.siteIds()) world.sandbox.site(id).syncTakes(24 * 3_600_000);
    const policy = aPolicy({
      limits: { ...limits, concurrency: 2 },
      timeout: { targetMs: 7_200_000, runMs: 3_600_000 },
    });

    const fired = await world.fire(policy);
    await until(world, () => world.sandbox.journal.effectsOf('syncSite').length === 2);
    world.clock.leap(3_600_000);
    const run = await world.ended(fired);

    expect(run.status).toBe('failed');
    expect(Object.values(await world.reasons(run))).toEqual(Array(6).fill('timeout'));
    expect(world.sandbox.journal.effectsOf('syncSite')).toHaveLength(2);
  });
});

describe('an account that refuses access', () => {
  test('blocks its runs, uses up no attempt, and lets them continue when it is fixed', async () => {
    await start({ sites: 12, before: quickSyncs });
    const fired = await world.fire(aPolicy({ limits: { ...limits, concurrency: 2 } }));
    await world.ended(fired, ({ counts }) => counts.succeeded > 0);
    world.sandbox.account.deactivate();

    const blocked = await world.ended(fired, ({ status }) => status === 'blocked');
    expect(blocked.detail).toBe(
      'The account "default" is inactive (HTTP 403): it must be activated at the service.',
    );
    const before = world.sandbox.journal.requests.length;
    await world.clock.sleep(30_000);
    expect(world.sandbox.journal.requests.length - before).toBeLessThanOrEqual(2);

    world.sandbox.account.activate();
    world.clock.leap(60_000);
    const run = await world.ended(fired);

    expect(run.counts.failed).toBe(0);
    expect(run.detail).toBeUndefined();
    expect((await world.targets(run)).every(({ attempts }) => attempts === 0)).toBe(true);
    const synced = world.sandbox.journal.effectsOf('syncSite');
    expect(new Set(synced).size).toBe(synced.length);
  });

  test('blocks a run that is being planned, which is planned when access is restored', async () => {
    await start({ sites: 3, before: quickSyncs });
    world.sandbox.account.changeToken('another-token');
    const fired = await world.fire(aPolicy());
    await world.ended(fired, ({ status }) => status === 'blocked');
    world.sandbox.account.changeToken(world.sandbox.token);

    const run = await world.ended(fired);

    expect(run).toMatchObject({ status: 'succeeded', counts: { planned: 3, succeeded: 3 } });
  });
});

test('a retry works only on the failed targets', async () => {
  await start({ sites: 6, before: quickSyncs });
  const [, bad = ''] = world.sandbox.siteIds();
  world.sandbox.site(bad).failNextSync('The disk is full.');
  const first = await world.ended(await world.fire(aPolicy()));
  expect(first.status).toBe('partial');

  // The time of the first run is kept: last month is still the month that it was about.
  const requestedAt = Date.UTC(2026, 10, 22, 21, 10);
  const run = await world.ended(await world.caretaker.engine.retry(first.id, { requestedAt }));

  expect(run.id).toMatch(/\.20261122T211000Z-[0-9a-f]{4}$/);
  expect(run).toMatchObject({ status: 'succeeded', trigger: 'retry', retryOf: first.id });
  expect(run.scheduledFor).toBe(first.scheduledFor);
  expect(await world.reasons(run)).toEqual({ [bad]: 'done' });
});

describe('a second run of the same policy while one is active', () => {
  const scheduled = (overlap: Overlap) =>
    aPolicy({ limits: { ...limits, concurrency: 1 }, schedule: aSchedule({ overlap }) });

  test('is skipped, with queue when one is already waiting, and also waits with queue-all', async () => {
    await start({ sites: 1, work: false });
    const [first, second, third] = [
      await world.fire(scheduled('queue')),
      await world.fire(scheduled('queue')),
      await world.fire(scheduled('queue')),
    ];
    expect(second).toMatchObject({ status: 'queued' });
    expect(third).toMatchObject({ status: 'skipped', detail: expect.stringContaining(second?.id ?? '') });
    expect(await world.fire(scheduled('queue-all'))).toMatchObject({ status: 'queued' });
    const skipped = await world.fire(scheduled('skip'));
    expect(skipped).toMatchObject({ status: 'skipped', detail: expect.stringContaining(first.id) });
  });

  test('is skipped even if both were fired at the same instant, and the ledger records it', async () => {
    await start({ sites: 1, work: false });
    const { engine, records } = world.caretaker;
    const moments = [60_000, 120_000, 180_000, 240_000];
    const runs = await Promise.all(
      moments.map((scheduledFor) => engine.fire(scheduled('skip'), { trigger: 'schedule', scheduledFor })),
    );
    expect(runs.filter(({ status }) => status === 'queued')).toHaveLength(1);
    const ledger = await records.ledger.between('nightly-sync', 0, 240_000, 10);
    expect(ledger.map(({ scheduledFor: moment, is, why, run }) => [moment, why ?? is, run])).toEqual(
      runs.map(({ scheduledFor, status, id }) => [
        scheduledFor,
        status === 'skipped' ? 'overlap' : 'ran',
        id,
      ]),
    );
  });

  test('starts in parallel with overlap allow', () => {
    const [first, second] = [aRun({ status: 'running' }), aRun()];
    expect(decideOverlap(second, [first, second], scheduled('allow'))).toBe('start');
  });

  test('replaces the first one with overlap cancel-running', async () => {
    await start({ sites: 3 });
    const sites = world.sandbox.siteIds().map((id) => world.sandbox.site(id));
    for (const site of sites) site.syncTakes(86_400_000);
    const first = await world.fire(scheduled('cancel-running'));
    await world.ended(first, ({ status }) => status === 'running');
    const second = await world.fire(scheduled('cancel-running'));
    for (const site of sites) {
      site.finishSync();
      site.syncTakes(3_000);
    }
    expect((await world.ended(first)).status).toBe('cancelled');
    expect((await world.ended(second)).status).toBe('succeeded');
  });
});
