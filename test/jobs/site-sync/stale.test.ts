/** `mode: stale`, which relies on the service's own daily sync, and `spread_daily_sync`, which moves it. */
import { describe, expect, test } from 'vitest';
import { assignedTime, siteSync } from '../../../jobs/site-sync/job.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { aPolicy } from '../../support/builders.ts';
import type { World } from '../../support/caretaker.ts';
import { worldOfTest } from '../../support/world-of-test.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const night = { from: '01:00', to: '05:00' };

const policyWith = (options: object, changes: Partial<Policy> = {}) =>
  aPolicy({ options: siteSync.options.parse(options), ...changes });
const stale = policyWith({ mode: 'stale', max_age: '20h' });
const spreading = policyWith({ mode: 'stale', max_age: '20h', spread_daily_sync: night });

/** A world whose sites were synced by the service three hours ago. */
async function worldOfFreshSites(sites: number) {
  const world = await worldOfTest({ sites });
  for (const id of world.sandbox.siteIds()) {
    const site = world.sandbox.site(id);
    site.lastSynced(3 * HOUR);
    site.syncTakes(10_000);
    site.connect();
    site.lock(false);
    site.pause(false);
  }
  return world;
}

/** Runs a policy to its end. Gives the run, the target of each site, and the changes made in the account. */
async function afterNight(now: World, policy: Policy, fire = () => now.fire(policy)) {
  const before = now.sandbox.journal.effects.length;
  const run = await now.ended(await fire());
  const targets = Object.fromEntries((await now.targets(run)).map((target) => [target.id, target]));
  const effects = now.sandbox.journal.effects
    .slice(before)
    .map(({ operation, resource }) => `${operation} ${resource}`);
  return { run, targets, effects };
}

describe('with mode: stale', () => {
  test('a site that the service synced recently succeeds without a request, and its detail shows when', async () => {
    const now = await worldOfFreshSites(3);
    const { sandbox } = now;
    sandbox.site('site-0002').lastSynced(21 * HOUR);

    const { run, targets, effects } = await afterNight(now, stale);

    expect(effects).toEqual(['syncSite site-0002']);
    expect(run).toMatchObject({ status: 'succeeded', counts: { planned: 3, succeeded: 3 } });
    expect(targets['site-0001']).toMatchObject({
      outcome: 'succeeded',
      reason: 'already-done',
      detail: 'Synced 3 h ago.',
    });
    expect(targets['site-0002']).toMatchObject({ outcome: 'succeeded', reason: 'done' });
  });

  test('a site whose last sync failed is synced again after one hour, or at once by a retry', async () => {
    const now = await worldOfFreshSites(3);
    const { sandbox, caretaker, clock } = now;
    sandbox.site('site-0001').lastSynced(2 * HOUR, 'The disk is full.');
    sandbox.site('site-0002').lastSynced(5 * MINUTE, 'The disk is full.');

    const first = await afterNight(now, stale);
    const retried = await afterNight(now, stale, () =>
      caretaker.engine.fire(stale, {
        trigger: 'retry',
        scheduledFor: clock.now(),
        only: ['site-0002'],
        retryOf: first.run.id,
      }),
    );

    expect(first.effects).toEqual(['syncSite site-0001']);
    expect(first.targets['site-0002']).toMatchObject({
      outcome: 'failed',
      reason: 'task-failed',
      detail: 'The last sync, 5 min ago, failed: The disk is full.',
    });
    expect(retried.effects).toEqual(['syncSite site-0002']);
  });

  test('a site whose last sync lies in the future is synced: nothing shows that it was', async () => {
    const now = await worldOfFreshSites(2);
    now.sandbox.site('site-0001').lastSynced(-30 * 24 * HOUR);
    now.sandbox.site('site-0002').lastSynced(-30_000);

    const { targets, effects } = await afterNight(now, stale);

    expect(effects).toEqual(['syncSite site-0001']);
    expect(targets['site-0001']).toMatchObject({ outcome: 'succeeded', reason: 'done' });
    // The clocks of the service may differ by seconds.
    expect(targets['site-0002']).toMatchObject({ reason: 'already-done', detail: 'Synced just now.' });
  });

  test('a second run right after the first changes nothing', async () => {
    const now = await worldOfFreshSites(12);
    const { sandbox } = now;
    for (const id of sandbox.siteIds().slice(0, 4)) sandbox.site(id).lastSynced(30 * HOUR);
    sandbox.site('site-0001').failNextSync('The disk is full.');
    sandbox.site('site-0002').underMaintenance(true);

    const first = await afterNight(now, spreading);
    const second = await afterNight(now, spreading);

    expect(first.effects).toHaveLength(3 + 12);
    expect(second.effects).toEqual([]);
    expect(second.targets['site-0002']).toMatchObject({ reason: 'maintenance' });
    expect(second.run.counts).toMatchObject({ planned: 12, succeeded: 10, failed: 1, skipped: 1 });
  });

  test('a run over three hundred healthy sites costs three reads', async () => {
    const now = await worldOfFreshSites(300);

    const { run } = await afterNight(now, stale);

    expect(run.counts).toMatchObject({ planned: 300, succeeded: 300 });
    expect(now.sandbox.journal.requests.map(({ operation }) => operation)).toEqual(
      Array(3).fill('listSites'),
    );
    expect(run.requests).toBe(3);
  });
});

describe('a site without Backups', () => {
  test('gets its outcome from its last sync', async () => {
    const now = await worldOfFreshSites(60);
    const { sites } = await now.caretaker
      .link('default')
      .client.call('listSites', { filters: { backups: { eq: false } } }, { requestClass: 'person' });
    const [synced = '', failed = ''] = sites.map(({ id }) => id);
    for (const id of [synced, failed]) now.sandbox.site(id).lastSynced(30 * HOUR);
    now.sandbox.site(failed).failNextSync('The database could not be read.');

    const run = await now.ended(await now.fire(stale, [synced, failed]));

    const targets = Object.fromEntries((await now.targets(run)).map((target) => [target.id, target]));
    expect(targets[synced]).toMatchObject({ reason: 'done' });
    expect(targets[failed]).toMatchObject({
      reason: 'task-failed',
      detail: 'The database could not be read.',
    });
  });
});

describe('with spread_daily_sync', () => {
  test('the daily sync of every site is moved once to its own minute, and a fresh site gets no other change', async () => {
    const now = await worldOfFreshSites(3);
    const { sandbox } = now;
    const was = sandbox.site('site-0001').state().dailySyncTime;

    const first = await afterNight(now, spreading);
    const second = await afterNight(now, spreading);

    const to = assignedTime(night, 'site-0001');
    expect(sandbox.site('site-0001').state().dailySyncTime).toBe(to);
    expect(first.effects.sort()).toEqual(sandbox.siteIds().map((id) => `updateSite ${id}`));
    expect(first.targets['site-0001']).toMatchObject({
      reason: 'done',
      detail: `Synced 3 h ago. The daily sync was moved from ${was} to ${to}.`,
    });
    expect(second.effects).toEqual([]);
    expect(second.targets['site-0001']).toMatchObject({ reason: 'already-done', detail: 'Synced 3 h ago.' });
  });

  test('the daily sync of a stale site is moved after its sync, even if that is refused or fails', async () => {
    const now = await worldOfFreshSites(3);
    const { sandbox } = now;
    for (const id of sandbox.siteIds()) sandbox.site(id).lastSynced(30 * HOUR);
    sandbox.site('site-0002').useUpDailySyncs();
    sandbox.site('site-0003').failNextSync('The disk is full.');

    const { targets, effects } = await afterNight(now, spreading);

    expect(effects.filter((effect) => effect.startsWith('updateSite'))).toHaveLength(3);
    expect(effects.indexOf('syncSite site-0001')).toBeLessThan(effects.indexOf('updateSite site-0001'));
    const moved = /The daily sync was moved from \d\d:\d\dZ to \d\d:\d\dZ\.$/;
    expect(targets['site-0001']).toMatchObject({ reason: 'done', detail: expect.stringMatching(moved) });
    expect(targets['site-0002']).toMatchObject({
      reason: 'daily-limit',
      detail: expect.stringMatching(moved),
    });
    expect(targets['site-0003']).toMatchObject({ reason: 'task-failed', outcome: 'failed' });
    expect(targets['site-0003']?.detail).toMatch(/^The disk is full\. The daily sync was moved/);
  });

  test('a move whose answer was lost is not requested again, and one whose request was lost is', async () => {
    const now = await worldOfFreshSites(2);
    for (const fault of ['reset-after', 'reset-before'] as const)
      now.sandbox.failNext({ operation: 'updateSite' }, fault);

    const { run, targets } = await afterNight(now, spreading);

    expect(run.status).toBe('succeeded');
    expect(targets['site-0001']).toMatchObject({ outcome: 'succeeded', reason: 'done' });
    expect(now.sandbox.journal.countOf('updateSite')).toBe(3);
    expect(now.sandbox.journal.effectsOf('updateSite').sort()).toEqual(['site-0001', 'site-0002']);
  });
});
