/** Tests of policies that record their work on the sites, and of those about the account itself. */
import { expect, test } from 'vitest';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { resultOf } from './run-one.ts';

const registry = await loadJobs();

const maintenance = `policies:
  - name: p
    job: site-sync
    schedule: { cron: "0 2 8 * *", timezone: Europe/Berlin }
    record:
      custom_work: { title: Maintenance, description: "Core {{site.wp.core.current_version}}, {{run.date}}" }
      note: living
`;
const branding = `policies:
  - name: p
    job: api-call
    select: { from: showPluginBranding, where: plugin_branding.type != "hidden" }
    with: { operation: updatePluginBranding, body: { plugin_branding: { type: hidden } } }
`;

const result = (policy: string, given: object, expected: object) =>
  resultOf({ registry, policy, test: { at: '2026-12-07T23:30:00Z', given, expect: expected } });

const listSites = [
  { id: 'shop', wp: { core: { current_version: '6.8.3' } } },
  { id: 'away', locked: true },
];
const work = { title: 'Maintenance', description: 'Core 6.8.3, 2026-12-08', performed_on: '2026-12-08' };

test('the custom work of a site is expected with its texts and its day, and the note with its line', async () => {
  const recordings = [{ site: 'shop', custom_work: work, note: '2026-12-07 23:30Z done' }];
  expect(await result(maintenance, { listSites }, { recordings })).toEqual({
    differences: [],
  });
});

test('what is recorded in another way is shown, and what a test does not name is not compared', async () => {
  const given = { listSites };
  const { differences } = await result(maintenance, given, {
    recordings: [{ site: 'shop', custom_work: { description: 'Core 6.4' } }],
  });
  expect(differences).toMatchObject([
    {
      at: 'recordings',
      missing: [expect.stringContaining('Core 6.4')],
      unexpected: [expect.stringContaining('Core 6.8.3')],
    },
  ]);
  expect(await result(maintenance, given, { recordings: [{ site: 'shop' }] })).toEqual({ differences: [] });
  expect((await result(maintenance, given, { recordings: [] })).differences).toHaveLength(1);
});

test('a policy without record writes nothing to the sites', async () => {
  const plain = maintenance.replace(/ {4}record:[\s\S]*/, '');
  expect(await result(plain, { listSites }, { recordings: [] })).toEqual({ differences: [] });
});

test('the branding of the account is given in part, and is that of an account that changed nothing', async () => {
  const requests = [{ operation: 'updatePluginBranding' }];
  const expected = { targets: ['plugin_branding'], requests };
  expect(await result(branding, { showPluginBranding: {} }, expected)).toEqual({ differences: [] });
  expect(await result(branding, { showPluginBranding: { type: 'hidden' } }, { targets: [] })).toEqual({
    differences: [],
  });
  expect(await result(branding, {}, { targets: [] })).toMatchObject({
    error:
      'The test gives no showPluginBranding, which the policy reads. Add it under "given"; {} is an account that changed nothing.',
  });
});
