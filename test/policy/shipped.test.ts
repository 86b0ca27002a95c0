import { expect, test } from 'vitest';
import { siteSync } from '../../jobs/site-sync.ts';
import { createRegistry } from '../../src/job/registry.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';

test('the policies we ship are right, and the nightly sync looks at every site', () => {
  const settings = loadSettings({ cwd: process.cwd(), env: {}, configPath: 'config/caretaker.yaml' });

  const { policies, findings } = loadPolicies({
    dir: settings.policiesDir,
    registry: createRegistry([siteSync]),
    settings,
  });

  expect(findings).toEqual([]);
  expect(policies.find(({ name }) => name === 'nightly-sync')?.select).toEqual({
    filters: {},
    sort: 'last_sync_at,asc',
  });
});
