/**
 * One run of a policy shortly after another, for work that takes half an hour, and with effects of further kinds: see
 * `two-runs.test.ts`.
 */
import { expect, test } from 'vitest';
import { aPolicy } from '../support/builders.ts';
import { worldOfTest } from '../support/world-of-test.ts';
import { describeSecondRuns, type Effects, SITES } from './second-runs.ts';

/** As in `two-runs.test.ts`, for the other operations whose lost answers are looked for in lists of their own. */
const effects: Effects[] = [
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

// Backup downloads take half an hour.
describeSecondRuns(effects, (operation) => ({
  speedUp: operation === 'startSiteBackupDownload' ? 300 : 60,
}));

test.each([-7, 7])(
  'a task is followed by lists only with a service whose clock is %i minutes off',
  async (minutes) => {
    // At more, a busy machine is minutes late by the clock of this world, and late work is polled.
    const world = await worldOfTest({ sites: SITES, speedUp: 30, serviceAheadMs: minutes * 60_000 });
    const run = await world.ended(await world.fire(aPolicy(effects[1]?.[2])));

    expect(run.counts.succeeded).toBe(world.sandbox.journal.effectsOf('startSiteBackupDownload').length);
    expect(run.requestsByOperation?.['showTask'] ?? 0).toBe(0);
  },
);
