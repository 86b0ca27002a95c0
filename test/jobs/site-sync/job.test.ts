/** Every reason that a run of site-sync can give a site, each caused at the service. */
import { afterEach, describe, expect, test } from 'vitest';
import { siteSync } from '../../../jobs/site-sync/job.ts';
import { ConflictError, RejectedError, UnavailableError } from '../../../src/client/errors.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { around } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';

let world: World | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

type Sandbox = World['sandbox'];

/** Syncs three sites, after `prepare` has changed something for the first of them. */
async function syncThree(
  prepare: (world: World, first: string) => void | Promise<void>,
  changes: Partial<Policy> = {},
) {
  world = await startWorld({ sites: 3 });
  const [first = ''] = world.sandbox.siteIds();
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).syncTakes(10_000);
  await prepare(world, first);
  const run = await world.ended(await world.fire(aPolicy(changes)));
  const { [first]: reason, ...others } = await world.reasons(run);
  const target = (await world.targets(run)).find(({ id }) => id === first);
  return {
    reason,
    others: Object.values(others),
    target,
    synced: world.sandbox.journal.effectsOf('syncSite'),
  };
}

const shortly: Partial<Policy> = { timeout: { targetMs: 90_000, runMs: 28_800_000 } };

describe('a site whose sync', () => {
  test('succeeded is done', async () => {
    const { reason, synced } = await syncThree(() => {});
    expect(reason).toBe('done');
    expect(synced).toHaveLength(3);
  });

  test('has a message shows it in its snapshot', async () => {
    const options = siteSync.options.parse({ message: 'Nightly sync' });
    const { synced } = await syncThree(() => {}, { options });
    const [site_id = ''] = synced;
    const { client } = (world as World).caretaker.link('default');
    const { snapshots } = await client.call('listSiteSnapshots', { site_id }, { requestClass: 'person' });
    expect(snapshots.map(({ note }) => note)).toContain('Nightly sync');
  });

  test('was already started by somebody else is adopted', async () => {
    const { reason, synced } = await syncThree(({ sandbox }, first) => {
      sandbox.site(first).syncTakes(120_000);
      sandbox.site(first).startSync();
    });
    expect(reason).toBe('adopted');
    expect(synced).toHaveLength(2);
  });

  test('had ended before the plan, which a list that lags behind did not show, is synced', async () => {
    world = await startWorld({ sites: 1, listLagMs: 120_000 });
    world.sandbox.site('site-0001').syncTakes(130_000);
    world.sandbox.site('site-0001').startSync();
    // It has ended, and the list still shows it as running.
    await world.clock.sleep(131_000);
    const run = await world.ended(await world.fire(aPolicy()));
    expect(await world.reasons(run)).toEqual({ 'site-0001': 'done' });
    expect(world.sandbox.journal.effectsOf('syncSite')).toHaveLength(1);
  });

  test('was started by somebody else between the plan and our request is adopted', async () => {
    const { reason, synced } = await syncThree((now, first) =>
      beforeSync(now, first, () => {
        now.sandbox.site(first).syncTakes(600_000);
        now.sandbox.site(first).startSync();
      }),
    );
    expect(reason).toBe('adopted');
    expect(synced).toHaveLength(2);
  });

  test('failed is failed with the message of the service', async () => {
    const { reason, target } = await syncThree(({ sandbox }, first) => {
      sandbox.site(first).failNextSync('The disk is full.');
    });
    expect(reason).toBe('task-failed');
    expect(target).toMatchObject({ outcome: 'failed', detail: 'The disk is full.' });
  });

  test('was cancelled in the service is failed as task-cancelled', async () => {
    const { reason, target } = await syncThree((now, first) =>
      afterSync(now, first, () => now.sandbox.site(first).cancelSync()),
    );
    expect(reason).toBe('task-cancelled');
    expect(target).toMatchObject({ outcome: 'failed' });
  });

  test('is in progress when the site is deleted ends as gone, and not as timeout', async () => {
    const { reason, target } = await syncThree(
      (now, first) =>
        afterSync(now, first, async () => {
          const { client } = now.caretaker.link('default');
          await client.call('deleteSite', { site_id: first }, { requestClass: 'person' });
        }),
      { timeout: { targetMs: 600_000, runMs: 28_800_000 } },
    );
    expect(reason).toBe('gone');
    expect(target?.outcome).toBe('skipped');
  });

  test('takes longer than timeout.target ends as timeout', async () => {
    const { reason, target } = await syncThree(({ sandbox }, first) => {
      sandbox.site(first).syncTakes(24 * 3_600_000);
    }, shortly);
    expect(reason).toBe('timeout');
    expect(target).toMatchObject({ outcome: 'failed', detail: 'The sync was still under way.' });
  });

  test('may or may not have started ends as unknown-effect when that cannot be found out in time', async () => {
    const { reason, target, others } = await syncThree(({ sandbox }) => {
      sandbox.failNext({ operation: 'syncSite', times: 3 }, 'error-before');
      sandbox.failNext({ operation: 'showSite', times: 1_000 }, 'status-503');
    }, shortly);
    expect(reason).toBe('unknown-effect');
    expect(target).toMatchObject({
      outcome: 'failed',
      detail: expect.stringMatching(/^The answer to syncSite was lost\./),
    });
    expect(others).toEqual(['unknown-effect', 'unknown-effect']);
  });
});

describe('a site that the service does not sync', () => {
  test.each([
    [
      'daily-limit',
      'has used up its syncs of the day',
      (sandbox: Sandbox, id: string) => sandbox.site(id).useUpDailySyncs(),
    ],
    [
      'maintenance',
      'is under maintenance',
      (sandbox: Sandbox, id: string) => sandbox.site(id).underMaintenance(true),
    ],
  ] as const)('is skipped with %s when it %s', async (expected, _, prepare) => {
    const { reason, target, others } = await syncThree(({ sandbox }, first) => prepare(sandbox, first));
    expect(reason).toBe(expected);
    expect(target?.outcome).toBe('skipped');
    expect(others).toEqual(['done', 'done']);
  });

  test.each([
    ['The site is disconnected.', (sandbox: Sandbox, id: string) => sandbox.site(id).disconnect()],
    ['The site is locked.', (sandbox: Sandbox, id: string) => sandbox.site(id).lock(true)],
  ] as const)('because it changed after the plan was made is not eligible: %s', async (detail, happen) => {
    const { reason, target, others } = await syncThree((now, first) =>
      beforeSync(now, first, () => happen(now.sandbox, first)),
    );
    expect(reason).toBe('not-eligible');
    expect(target).toMatchObject({ outcome: 'skipped', attempts: 0, detail });
    expect(others).toEqual(['done', 'done']);
  });

  test('for a reason that we do not know is rejected, with the message of the service', async () => {
    const { reason, target } = await syncThree((now, first) => {
      const says = { code: 'sync_refused', message: 'Not on Sundays.' };
      failSync(now.caretaker, first, new RejectedError('syncSite', 422, says));
    });
    expect(reason).toBe('rejected');
    expect(target).toMatchObject({ outcome: 'failed', attempts: 0, detail: 'Not on Sundays.' });
  });

  test('because it was deleted after the plan was made is gone', async () => {
    const { reason, target } = await syncThree((now, first) =>
      beforeSync(now, first, async () => {
        const { client } = now.caretaker.link('default');
        await client.call('deleteSite', { site_id: first }, { requestClass: 'person' });
      }),
    );
    expect(reason).toBe('gone');
    expect(target?.outcome).toBe('skipped');
  });

  test('because another change is in progress until timeout.target ends as conflict', async () => {
    const { reason, target, synced } = await syncThree(
      ({ caretaker }, first) =>
        failSync(caretaker, first, new ConflictError('syncSite', { message: 'A restore is under way.' })),
      shortly,
    );
    expect(reason).toBe('conflict');
    expect(target).toMatchObject({ outcome: 'failed', attempts: 0, detail: 'A restore is under way.' });
    expect(synced).toHaveLength(2);
  });

  test('in any of its attempts ends as unavailable, and was never synced', async () => {
    const { reason, target, synced } = await syncThree(
      ({ caretaker }, first) =>
        failSync(caretaker, first, new UnavailableError('syncSite', true, 'HTTP 500')),
      { retry: { ...aPolicy().retry, attempts: 2, delayMs: 5_000 } },
    );
    expect(reason).toBe('unavailable');
    expect(target).toMatchObject({ outcome: 'failed', attempts: 2 });
    expect(synced).toHaveLength(2);
  });
});

/** Lets every request to sync one site end with an error. The sandbox can do that only for all sites. */
function failSync(caretaker: World['caretaker'], id: string, error: Error) {
  around(caretaker.link('default').client, 'call', (call, operation, input) => {
    if (operation !== 'syncSite' || !('site_id' in input) || input.site_id !== id) return call();
    return Promise.reject(error);
  });
}

/** Calls `happen` as soon as the sync of a site has started. */
function afterSync({ caretaker }: World, id: string, happen: () => void | Promise<void>) {
  around(caretaker.link('default').client, 'call', async (call, operation, input) => {
    const answer = await call();
    if (operation === 'syncSite' && 'site_id' in input && input.site_id === id) await happen();
    return answer;
  });
}

/** Calls `happen` after the plan was made and before the sync of the site is requested. */
function beforeSync({ caretaker }: World, id: string, happen: () => void | Promise<void>) {
  let happened = false;
  around(caretaker.link('default').client, 'call', async (call, operation, input) => {
    if (!happened && operation === 'syncSite' && 'site_id' in input && input.site_id === id) {
      happened = true;
      await happen();
    }
    return call();
  });
}

describe('a site that needs no request', () => {
  test.each([
    ['The site is disconnected.', (sandbox: Sandbox, id: string) => sandbox.site(id).disconnect()],
    ['Syncing is paused on the site.', (sandbox: Sandbox, id: string) => sandbox.site(id).pause(true)],
    ['The site is locked.', (sandbox: Sandbox, id: string) => sandbox.site(id).lock(true)],
  ] as const)('is skipped when it cannot be synced: %s', async (detail, prepare) => {
    const { reason, target, synced } = await syncThree(({ sandbox }, first) => prepare(sandbox, first));
    expect(reason).toBe('not-eligible');
    expect(target).toMatchObject({ outcome: 'skipped', detail });
    expect(synced).toHaveLength(2);
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
