import { expect, test } from 'vitest';
import { waitsUntil } from '../../src/app/daemon.ts';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { folderWith } from '../settings/folder.ts';

const call = (operation: string, more = '') =>
  `job: api-call, select: { from: listSites }, with: { operation: ${operation}${more} }`;

test.each([
  ['job: site-sync', false],
  ['job: update-check', false],
  ['job: staging-cleanup, with: { older_than: 14d, action: report }', false],
  ['job: staging-cleanup, with: { older_than: 14d, action: delete }', true],
  ['job: report-dispatch, with: { template: { name: t }, period: last_month, recipients: client }', true],
  [call('syncSite'), false],
  [call('deleteSite', ', confirm: deleteSite'), true],
  [
    `steps: [{ job: site-sync }, { ${call('deleteSite', ', confirm: deleteSite').replace(/select: .*?\}, /, '')} }]`,
    true,
  ],
])('a change of a policy with %s waits for a minute: %s', async (text, waits) => {
  const registry = await loadJobs();
  const dir = folderWith({ 'a.yaml': `policies: [{ name: p, ${text} }]\n` });
  const { policies, findings } = loadPolicies({ dir, registry });
  expect(findings).toEqual([]);
  const until = policies.map(waitsUntil(registry, { changedAt: () => 1_000_000 }));
  expect(until).toEqual([waits ? 1_060_000 : 0]);
});
