/**
 * One run of a policy shortly after another, for work that takes half an hour, and with effects of further kinds: see
 * `two-runs.test.ts`.
 */
import { afterEach, describe, expect, test } from 'vitest';
import type { OperationId } from '../../src/contract/operations.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';

let world: World;
afterEach(() => world.stop());

const SITES = 4;
const effectsOf = (operation: OperationId) => world.sandbox.journal.effectsOf(operation).length;

/** As in `two-runs.test.ts`, for the other operations whose lost answers are looked for in lists of their own. */
const calls: [string, OperationId, Partial<Policy>][] = [
  [
    'custom works',
    'createSiteCustomWorks',
    {
      job: 'api-call',
      select: { from: 'listSites', filters: {} },
      options: {
        operation: 'createSiteCustomWorks',
        body: { custom_works: [{ title: 'Maintenance', performed_on: '2026-11-01' }] },
      },
    },
  ],
  [
    'backup downloads',
    'startSiteBackupDownload',
    {
      job: 'api-call',
      select: { from: 'listSites', filters: {} },
      options: {
        operation: 'startSiteBackupDownload',
        params: { snapshot_id: { cel: 'site.backups.latest_snapshot.id' } },
        body: { download: { scope: { include_files: true, include_database: true } } },
      },
    },
  ],
];

describe.each(calls)('%s of a second run, two seconds after the first', (_, operation, policy) => {
  const retry: Policy['retry'] = { attempts: 4, backoff: 'fixed', delayMs: 1_000, maxDelayMs: 1_000 };
  const fire = async () => world.ended(await world.fire(aPolicy({ retry, ...policy })));
  const start = async () => {
    // Backup downloads take half an hour.
    const speedUp = operation === 'startSiteBackupDownload' ? 300 : 60;
    world = await startWorld({ sites: SITES, speedUp });
    const first = await fire();
    const made = effectsOf(operation);
    expect(first.counts.succeeded).toBe(made);
    expect(made).toBeGreaterThan(0);
    await world.clock.sleep(2_000);
    return made;
  };

  test('do not succeed when the service drops every request', async () => {
    const made = await start();
    world.sandbox.failNext({ operation, times: 1_000 }, 'reset-before');

    const second = await fire();

    expect(effectsOf(operation)).toBe(made);
    expect(second.counts).toMatchObject({ succeeded: 0, failed: made });
  });

  test('happen once each when the answers are lost', async () => {
    const made = await start();
    world.sandbox.failNext({ operation, times: made }, 'reset-after');

    const second = await fire();

    expect(effectsOf(operation)).toBe(2 * made);
    expect(second.counts).toMatchObject({ succeeded: made, failed: 0 });
  });
});

test.each([-7, 7])(
  'a task is followed by lists only with a service whose clock is %i minutes off',
  async (minutes) => {
    // At more, a busy machine is minutes late by the clock of this world, and late work is polled.
    world = await startWorld({ sites: SITES, speedUp: 15, serviceAheadMs: minutes * 60_000 });
    const run = await world.ended(await world.fire(aPolicy(calls[1]?.[2])));

    expect(run.counts.succeeded).toBe(effectsOf('startSiteBackupDownload'));
    expect(run.requestsByOperation?.['showTask'] ?? 0).toBe(0);
  },
);
