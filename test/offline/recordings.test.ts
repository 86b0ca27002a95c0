/** Tests of policies that record their work on the sites, and of those about the account itself. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { loadTests } from '../../src/offline/tests/load-tests.ts';
import { runTest } from '../../src/offline/tests/run-test.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { folderWith } from '../settings/folder.ts';

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

async function result(policy: string, given: object, expected: object) {
  const entry = { name: 'It works', policy: 'p', at: '2026-12-07T23:30:00Z', given, expect: expected };
  const folder = folderWith({ 'p.yaml': policy, 'tests.yaml': stringify({ tests: [entry] }) });
  const loaded = loadPolicies({ dir: folder, files: [join(folder, 'p.yaml')], registry });
  const { tests, findings } = loadTests([join(folder, 'tests.yaml')], loaded);
  expect([...loaded.findings, ...findings]).toEqual([]);
  return runTest(tests[0] as (typeof tests)[number], {
    registry,
    budget: { requestsPerMinute: 200, reserve: 0.1 },
  });
}

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
