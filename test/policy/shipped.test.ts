import { expect, test } from 'vitest';
import { loadJobs } from '../../src/app/jobs.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';

test('the policies we ship are right, and the nightly sync looks at every site', async () => {
  const settings = loadSettings({ cwd: process.cwd(), env: {}, configPath: 'config/caretaker.yaml' });

  const { policies, findings } = loadPolicies({
    dir: settings.policiesDir,
    registry: await loadJobs(),
    settings,
  });

  expect(findings).toEqual([]);
  expect(policies.find(({ name }) => name === 'nightly-sync')?.select).toEqual({
    filters: {},
    sort: 'last_sync_at,asc',
  });
});
