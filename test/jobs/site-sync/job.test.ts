/** Every reason that a run of site-sync can give a site, each caused at the service. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { siteSync } from '../../../jobs/site-sync/job.ts';
import { ConflictError, RejectedError, UnavailableError } from '../../../src/client/errors.ts';
import type { Target } from '../../../src/run/run.ts';
import { around } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { worldOfTest } from '../../support/world-of-test.ts';

type Site = ReturnType<World['sandbox']['site']>;

/** What happens to one site of a run, and how it ends there. The sandbox cannot fail the request for one site only. */
interface Case {
  beforePlan?(site: Site): void;
  /** After the plan was made, before the sync is requested. */
  beforeRequest?(site: Site, remove: () => Promise<unknown>): unknown;
  fails?: Error;
  afterRequest?(site: Site, remove: () => Promise<unknown>): unknown;
  ends: Partial<Target>;
  /** Whether the run starts a sync. */
  synced: boolean;
}

/** Long enough that it is still in progress at the next step, however slow the machine. */
const LONG_MS = 3_600_000;

const refused = new RejectedError('syncSite', 422, { code: 'sync_refused', message: 'Not on Sundays.' });
const disconnected = {
  outcome: 'skipped',
  reason: 'not-eligible',
  detail: 'The site is disconnected.',
} as const;
const locked = { outcome: 'skipped', reason: 'not-eligible', detail: 'The site is locked.' } as const;
const paused = { ...locked, detail: 'Syncing is paused on the site.' } as const;

const cases: Record<string, Case> = {
  'whose sync succeeded is done': { ends: { outcome: 'succeeded', reason: 'done' }, synced: true },
  'whose sync was already started by somebody else is adopted': {
    beforePlan(site) {
      site.syncTakes(LONG_MS);
      site.startSync();
    },
    ends: { outcome: 'succeeded', reason: 'adopted' },
    synced: false,
  },
  'whose sync was started by somebody else between the plan and our request is adopted': {
    beforeRequest(site) {
      site.syncTakes(LONG_MS);
      site.startSync();
    },
    ends: { outcome: 'succeeded', reason: 'adopted' },
    synced: false,
  },
  'whose sync failed is failed with the message of the service': {
    beforePlan: (site) => site.failNextSync('The disk is full.'),
    ends: { outcome: 'failed', reason: 'task-failed', detail: 'The disk is full.' },
    synced: true,
  },
  'whose sync was cancelled in the service is failed as task-cancelled': {
    beforePlan: (site) => site.syncTakes(LONG_MS),
    afterRequest: (site) => site.cancelSync(),
    ends: { outcome: 'failed', reason: 'task-cancelled' },
    synced: true,
  },
  'that is deleted while its sync is in progress ends as gone, and not as timeout': {
    beforePlan: (site) => site.syncTakes(LONG_MS),
    afterRequest: (_, remove) => remove(),
    ends: { outcome: 'skipped', reason: 'gone' },
    synced: true,
  },
  'whose sync takes longer than timeout.target ends as timeout': {
    beforePlan: (site) => site.syncTakes(24 * 3_600_000),
    ends: { outcome: 'failed', reason: 'timeout', detail: 'The sync was still under way.' },
    synced: true,
  },
  'that has used up its syncs of the day is skipped with daily-limit': {
    beforePlan: (site) => site.useUpDailySyncs(),
    ends: { outcome: 'skipped', reason: 'daily-limit' },
    synced: false,
  },
  'that is under maintenance is skipped with maintenance': {
    beforePlan: (site) => site.underMaintenance(true),
    ends: { outcome: 'skipped', reason: 'maintenance' },
    synced: false,
  },
  'that is disconnected is skipped': {
    beforePlan: (site) => site.disconnect(),
    ends: disconnected,
    synced: false,
  },
  'on which syncing is paused is skipped': {
    beforePlan: (site) => site.pause(true),
    ends: paused,
    synced: false,
  },
  'that is locked is skipped': { beforePlan: (site) => site.lock(true), ends: locked, synced: false },
  'that was disconnected after the plan was made is not eligible': {
    beforeRequest: (site) => site.disconnect(),
    ends: { ...disconnected, attempts: 0 },
    synced: false,
  },
  'that was locked after the plan was made is not eligible': {
    beforeRequest: (site) => site.lock(true),
    ends: { ...locked, attempts: 0 },
    synced: false,
  },
  'that was deleted after the plan was made is gone': {
    beforeRequest: (_, remove) => remove(),
    ends: { outcome: 'skipped', reason: 'gone' },
    synced: false,
  },
  'that is not synced for a reason that we do not know is rejected, with the message of the service': {
    fails: refused,
    ends: { outcome: 'failed', reason: 'rejected', attempts: 0, detail: 'Not on Sundays.' },
    synced: false,
  },
  'that is not synced in any of its attempts ends as unavailable': {
    fails: new UnavailableError('syncSite', true, 'HTTP 500'),
    ends: { outcome: 'failed', reason: 'unavailable', attempts: 2 },
    synced: false,
  },
};

const shortly = { timeout: { targetMs: 90_000, runMs: 28_800_000 } };

describe('a site', () => {
  let world: World;
  let targets: Target[];
  const ids = () => world.sandbox.siteIds();
  const idOf = new Map<string, string>();
  // One run for all: its targets do not affect each other.
  beforeAll(async () => {
    world = await startWorld({ sites: Object.keys(cases).length });
    const { sandbox, caretaker } = world;
    const { client } = caretaker.link('default');
    const caseOf = new Map<string, Case>();
    for (const [index, [name, one]] of Object.entries(cases).entries()) {
      const id = ids()[index] ?? '';
      const site = sandbox.site(id);
      site.connect();
      site.lock(false);
      site.pause(false);
      site.syncTakes(10_000);
      one.beforePlan?.(site);
      idOf.set(name, id);
      caseOf.set(id, one);
    }
    const seen = new Set<string>();
    around(client, 'call', async (call, operation, input) => {
      const site_id = operation === 'syncSite' && 'site_id' in input ? String(input.site_id) : '';
      const one = caseOf.get(site_id);
      if (!one) return call();
      const remove = () => client.call('deleteSite', { site_id }, { requestClass: 'person' });
      if (!seen.has(site_id)) await one.beforeRequest?.(sandbox.site(site_id), remove);
      seen.add(site_id);
      if (one.fails) throw one.fails;
      const answer = await call();
      await one.afterRequest?.(sandbox.site(site_id), remove);
      return answer;
    });
    const policy = aPolicy({
      options: siteSync.options.parse({ message: 'Nightly sync' }),
      retry: { ...aPolicy().retry, attempts: 2, delayMs: 5_000 },
      timeout: { targetMs: 2 * LONG_MS, runMs: 10 * LONG_MS },
    });
    targets = await world.targets(await world.ended(await world.fire(policy)));
  });
  afterAll(() => world.stop());

  test.each(Object.entries(cases))('%s', (name, { ends, synced }) => {
    const id = idOf.get(name) ?? '';
    expect(targets.find((target) => target.id === id)).toMatchObject(ends);
    expect(world.sandbox.journal.effectsOf('syncSite').includes(id)).toBe(synced);
  });

  test('shows the message of its sync in its snapshot', async () => {
    const { client } = world.caretaker.link('default');
    const site_id = idOf.get('whose sync succeeded is done') ?? '';
    const { snapshots } = await client.call('listSiteSnapshots', { site_id }, { requestClass: 'person' });
    expect(snapshots.map(({ note }) => note)).toContain('Nightly sync');
  });
});

test('a site whose sync had ended before the plan, which a list that lags behind did not show, is synced', async () => {
  const world = await worldOfTest({ sites: 1, listLagMs: 120_000 });
  world.sandbox.site('site-0001').syncTakes(130_000);
  world.sandbox.site('site-0001').startSync();
  // It has ended, and the list still shows it as running.
  world.clock.leap(131_000);
  const run = await world.ended(await world.fire(aPolicy()));
  expect(await world.reasons(run)).toEqual({ 'site-0001': 'done' });
  expect(world.sandbox.journal.effectsOf('syncSite')).toHaveLength(1);
});

test('a site with another change in progress until timeout.target ends as conflict', async () => {
  const world = await worldOfTest({ sites: 1 });
  around(world.caretaker.link('default').client, 'call', (call, operation) =>
    operation === 'syncSite'
      ? Promise.reject(new ConflictError(operation, { message: 'A restore is under way.' }))
      : call(),
  );
  const run = await world.ended(await world.fire(aPolicy(shortly)));
  expect(await world.targets(run)).toMatchObject([
    { outcome: 'failed', reason: 'conflict', attempts: 0, detail: 'A restore is under way.' },
  ]);
});

test('a sync that may or may not have started ends as unknown-effect when that cannot be found out in time', async () => {
  const world = await worldOfTest({ sites: 3 });
  world.sandbox.failNext({ operation: 'syncSite', times: 3 }, 'error-before');
  world.sandbox.failNext({ operation: 'showSite', times: 1_000 }, 'status-503');
  const run = await world.ended(await world.fire(aPolicy(shortly)));
  const targets = await world.targets(run);
  expect(targets.map(({ reason }) => reason)).toEqual(Array(3).fill('unknown-effect'));
  expect(targets[0]).toMatchObject({
    outcome: 'failed',
    detail: expect.stringMatching(/^The service answered syncSite with HTTP 500, which does not show/),
  });
});

describe('finding out whether a sync started', () => {
  const intent = { operation: 'syncSite', at: Date.parse('2026-11-21T02:00:00Z') };
  const reconcile = (site: object) => {
    const acting = {
      api: { showSite: async () => ({ site }) },
      // biome-ignore lint/correctness/useYield: a list that is refused has no items.
      async *all() {
        throw new RejectedError('listSiteSnapshots', 422, { message: 'no backups' });
      },
      serviceTime: async (at: number) => ({ earliest: at - 1_000, latest: at + 1_000 }),
      effects: { claim: async () => true, belongsToOther: async () => false },
      target: { id: 's', label: 's' },
      now: intent.at,
    };
    return siteSync.reconcile(acting as unknown as Parameters<typeof siteSync.reconcile>[0], intent);
  };

  test('is not possible when the service does not show the sync of the site', async () => {
    expect(await reconcile({ id: 's' })).toMatchObject({ is: 'unknown' });
  });

  test.each([
    ['that cannot be read', 'yesterday'],
    ['that is not shown', undefined],
  ])('is not possible with a last sync %s', async (_, last_sync_at) => {
    expect(await reconcile({ id: 's', sync: { in_progress: false, last_sync_at } })).toMatchObject({
      is: 'unknown',
    });
  });

  test('adopts a running sync', async () => {
    expect(await reconcile({ id: 's', sync: { in_progress: true } })).toMatchObject({
      is: 'following',
      watch: { adopted: true },
    });
  });

  test('proves that it did not when the last sync is older than the request, or the site has none', async () => {
    const before = new Date(intent.at - 300_000).toISOString();
    expect(await reconcile({ id: 's', sync: { in_progress: false, last_sync_at: before } })).toEqual({
      is: 'absent',
    });
    expect(await reconcile({ id: 's', sync: { in_progress: false, last_sync_at: null } })).toEqual({
      is: 'absent',
    });
  });
});
