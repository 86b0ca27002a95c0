/**
 * Fields that the service does not show decide nothing: no copy is deleted, no site is synced or reported as
 * fresh because of a missing field.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { apiCall } from '../../jobs/api-call/job.ts';
import { siteSync } from '../../jobs/site-sync/job.ts';
import { stagingCleanup } from '../../jobs/staging-cleanup/job.ts';
import { updateCheck } from '../../jobs/update-check/job.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import { healthySites, quickSyncs } from '../support/quick-syncs.ts';

const HOUR = 3_600_000;
let world: World | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

/** Runs a policy to its end. Returns the outcome of each target, and the changes. */
async function fired(now: World, policy: Policy) {
  const { journal } = now.sandbox;
  const before = journal.effects.length;
  const run = await now.ended(await now.fire(policy));
  const targets = Object.fromEntries((await now.targets(run)).map((target) => [target.id, target]));
  const effects = journal.effects.slice(before).map(({ operation, resource }) => `${operation} ${resource}`);
  return { targets, effects };
}

/** One site with one staging copy that is 15 days old. */
async function withCopy() {
  world = await startWorld({ sites: 1, before: quickSyncs });
  const { staging, siteIds } = world.sandbox;
  staging.clear();
  const [site = ''] = siteIds();
  return { now: world, site, copy: staging.make(site, 15) };
}

const cleanup = (options: object, where?: string) =>
  aPolicy({
    name: 'cleanup',
    job: 'staging-cleanup',
    options: stagingCleanup.options.parse({ action: 'delete', grace: 0, older_than: '14d', ...options }),
    select: { filters: {}, ...(where === undefined ? {} : { where }) },
  });

describe('a staging copy', () => {
  test('is kept while the tags that may protect it are not shown, and by a tag that only the single view shows', async () => {
    const { now, site, copy } = await withCopy();
    const { client } = now.caretaker.link('default');
    const person = { requestClass: 'person' } as const;
    const { tag } = await client.call('createTag', { body: { tag: { name: 'keep' } } }, person);
    const silent = {
      outcome: 'skipped',
      reason: 'not-eligible',
      detail: 'The service does not show site.tags.',
    };
    const unlessTagged = cleanup({ unless_tagged: [{ name: 'keep' }] });
    now.sandbox.hide('listSites', 'tags');
    const show = now.sandbox.hide('showSite', 'tags');

    const byCondition = await fired(now, cleanup({}, '!site.tags.exists(t, t.name == "keep")'));
    const byOption = await fired(now, unlessTagged);
    show();
    await client.call('assignTag', { tag_id: tag.id, body: { site_ids: [site] } }, person);
    const tagged = await fired(now, unlessTagged);

    expect(byCondition.targets[copy]).toMatchObject(silent);
    expect(byOption.targets[copy]).toMatchObject(silent);
    expect(tagged.targets[copy]).toBeUndefined();
    expect([...byCondition.effects, ...byOption.effects, ...tagged.effects]).toEqual([]);
  });

  test('is kept while no view shows a field that decides, and deleted because of its single view', async () => {
    const { now, site, ...first } = await withCopy();
    let { copy } = first;
    for (const field of ['created_at', 'updated_at', 'expires_at', 'status', 'site_id'] as const) {
      const showInLists = now.sandbox.hide('listStagingSites', field);
      const showAlone = now.sandbox.hide('showStagingSite', field);

      const silent = await fired(now, cleanup({}));
      showAlone();
      const shown = await fired(now, cleanup({}));

      expect(silent.targets[copy]).toMatchObject({
        outcome: 'skipped',
        reason: 'not-eligible',
        detail: `The service does not show staging.${field}.`,
      });
      expect(silent.effects).toEqual([]);
      expect(shown.effects, field).toEqual([`deleteStagingSite ${copy}`]);
      showInLists();
      copy = now.sandbox.staging.make(site, 15);
    }
  });

  test('that is announced in a note whose text is not shown is neither announced again nor deleted', async () => {
    const { now, copy } = await withCopy();
    await fired(now, cleanup({ grace: '3d' }));
    now.sandbox.hide('listSiteNotes', 'content');
    const announced = await fired(now, cleanup({ grace: '3d' }));
    now.sandbox.hide('showSiteNote', 'content');
    const silent = await fired(now, cleanup({ grace: '3d' }));

    expect(announced.targets[copy]).toMatchObject({ reason: 'announced' });
    expect(silent.targets[copy]).toMatchObject({
      outcome: 'skipped',
      detail: 'The service does not show note.content.',
    });
    expect([...announced.effects, ...silent.effects]).toEqual([]);
  });
});

describe('a site', () => {
  const nightly = (options: object) => aPolicy({ options: siteSync.options.parse(options) });
  const stale = { mode: 'stale', max_age: '20h' };
  const moving = { ...stale, spread_daily_sync: { from: '01:00', to: '05:00' } };

  test('is neither synced nor reported as fresh while no view shows a field that decides, and is judged by its single view', async () => {
    world = await startWorld({ sites: 1, before: healthySites });
    const now = world;
    now.sandbox.site('site-0001').lastSynced(3 * HOUR);
    for (const [field, options] of [
      ['connection.status', {}],
      ['sync', {}],
      ['sync.paused', {}],
      ['locked', {}],
      ['sync.last_sync_at', stale],
      ['sync.last_sync_status', stale],
      ['sync.daily_sync_time', moving],
    ] as const) {
      const shows = [now.sandbox.hide('listSites', field), now.sandbox.hide('showSite', field)];

      const { targets, effects } = await fired(now, nightly(options));

      expect(targets['site-0001']).toMatchObject({
        outcome: 'skipped',
        reason: 'not-eligible',
        detail: `The service does not show site.${field}.`,
      });
      expect(effects).toEqual([]);
      for (const show of shows) show();
    }

    now.sandbox.hide('listSites', 'sync', 'locked', 'connection');
    const before = now.sandbox.journal.countOf('showSite');
    const { targets } = await fired(now, nightly(stale));
    expect(targets['site-0001']).toMatchObject({ outcome: 'succeeded', reason: 'already-done' });
    expect(now.sandbox.journal.countOf('showSite')).toBe(before + 1);
  });

  const logging = aPolicy({
    job: 'api-call',
    options: apiCall.options.parse({ operation: 'enableSiteActivityLogs' }),
    select: { from: 'listSites', filters: {}, where: '!site.activity_logs.enabled' },
  });

  test('is changed by what its single view shows, and left alone while that lacks the field too', async () => {
    world = await startWorld({ sites: 3, before: quickSyncs });
    const { sandbox } = world;
    sandbox.hide('listSites', 'activity_logs');
    const show = sandbox.hide('showSite', 'activity_logs');
    const silent = await fired(world, logging);
    show();
    const shown = await fired(world, logging);

    expect(silent.effects).toEqual([]);
    for (const { reason, detail } of Object.values(silent.targets)) {
      expect([reason, detail]).toEqual(['not-eligible', 'The service does not show site.activity_logs.']);
    }
    expect(Object.keys(silent.targets)).toHaveLength(3);
    expect(shown.effects.length).toBe(Object.keys(shown.targets).length);
  });
});

describe('an update check', () => {
  const check = aPolicy({
    job: 'update-check',
    options: updateCheck.options.parse({ enable_paused: true, pause_on_failed_rate: '50%', fail_on: [] }),
  });

  /** One site with an outdated core, and an active and a paused schedule for its plugins. */
  async function withSchedules() {
    world = await startWorld({ sites: 1, before: quickSyncs });
    const { sandbox, caretaker } = world;
    const { client } = caretaker.link('default');
    const person = { requestClass: 'person' } as const;
    const { auto_update_schedules } = await client.call('listAutoUpdateSchedules', {}, person);
    for (const { id } of auto_update_schedules)
      await client.call('deleteAutoUpdateSchedule', { auto_update_schedule_id: id }, person);
    sandbox.site('site-0001').coreIs({ current: '6.4.2', vulnerable: true });
    const [active, paused] = (['active', 'paused'] as const).map((status) =>
      sandbox.schedules.make('site-0001', status),
    );
    return { now: world, active: active ?? '', paused: paused ?? '' };
  }

  test('does not report a core as fine if a field about it is not shown, and reads the single view of the site', async () => {
    const { now } = await withSchedules();
    const show = now.sandbox.hide('showSite', 'wp.core.vulnerable');
    const outdated = await fired(now, check);
    show();
    now.sandbox.hide('listSites', 'wp.core');
    const seen = await fired(now, check);
    now.sandbox.hide('showSite', 'wp.core');
    const unseen = await fired(now, check);

    expect(outdated.targets['site:site-0001']).toMatchObject({
      reason: 'uncovered',
      detail: expect.stringMatching(/is outdated .* The service does not show site\.wp\.core\.vulnerable\.$/),
    });
    expect(seen.targets['site:site-0001']).toMatchObject({ reason: 'vulnerable' });
    expect(unseen.targets['site:site-0001']).toMatchObject({
      outcome: 'skipped',
      reason: 'not-eligible',
      detail: 'The service does not show site.wp.core.update_available.',
    });
  });

  test('reports no site as uncovered, and no schedule as paused, when status or scope of a schedule are not shown', async () => {
    const { now } = await withSchedules();
    now.sandbox.hide('listAutoUpdateSchedules', 'scope');
    const showStatus = now.sandbox.hide('listAutoUpdateSchedules', 'status');
    const statusHidden = await fired(now, check);
    showStatus();
    const scopeHidden = await fired(now, check);

    const site = 'site:site-0001';
    const silent = (what: string) => ({
      reason: 'vulnerable',
      detail: expect.stringMatching(
        new RegExp(`The service does not show the ${what} of "Plugins of site-0001"\\.$`),
      ),
    });
    expect(statusHidden.targets[site]).toMatchObject(silent('status'));
    expect(statusHidden.targets[site]?.detail).not.toContain('is paused');
    expect(scopeHidden.targets[site]).toMatchObject(silent('scope'));
  });

  test('enables no schedule whose status is not shown, also where the list shows it before, and reads the single schedule', async () => {
    const { now, active, paused } = await withSchedules();
    const showAlone = now.sandbox.hide('showAutoUpdateSchedule', 'status');
    const hiddenLater = await fired(now, check);
    now.sandbox.hide('listAutoUpdateSchedules', 'status');
    const silent = await fired(now, check);
    showAlone();
    const shown = await fired(now, check);

    const detail = 'The service does not show schedule.status.';
    expect(hiddenLater.targets[paused]?.detail).toBe(detail);
    expect(silent.targets[active]).toMatchObject({ outcome: 'skipped', reason: 'not-eligible', detail });
    expect(silent.targets[paused]).toMatchObject({ outcome: 'skipped', reason: 'not-eligible', detail });
    expect([...hiddenLater.effects, ...silent.effects]).toEqual([]);
    expect(shown.effects).toEqual([`enableAutoUpdateSchedule ${paused}`]);
  });
});

test('copies whose timestamps have another format in each response have not changed since the plan', async () => {
  world = await startWorld({ sites: 11, before: quickSyncs });
  const { sandbox } = world;
  sandbox.staging.clear();
  const copies = sandbox.siteIds().map((site) => sandbox.staging.make(site, 15));
  sandbox.outage.begin('other-timestamps');

  const { targets, effects } = await fired(world, cleanup({}));

  expect(Object.values(targets).map(({ reason }) => reason)).toEqual(copies.map(() => 'done'));
  expect(effects).toHaveLength(11);
});
