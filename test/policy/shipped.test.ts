import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { asWritten } from '../../src/policy/as-written.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { jobOf } from '../../src/policy/policy-job.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { folderWith } from '../settings/folder.ts';

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

test('a policy we ship runs on schedule only if it changes nothing', async () => {
  const registry = await loadJobs();
  const { policies } = loadPolicies({ dir: 'config/policies', registry });

  for (const policy of policies) {
    const changes = jobOf(registry, policy)?.changes?.(policy.options);
    expect({ name: policy.name, disabled: policy.schedule?.disabled === true }).toEqual({
      ...{ name: policy.name, disabled: changes?.length !== 0 },
    });
  }
});

test('each policy we ship, shown with every default filled in, is read as the same policy again', async () => {
  const settings = loadSettings({ cwd: process.cwd(), env: {}, configPath: 'config/caretaker.yaml' });
  const registry = await loadJobs();
  const { policies } = loadPolicies({ dir: settings.policiesDir, registry, settings });
  const shown = policies.map((policy) => asWritten(policy, registry));

  const dir = folderWith({ 'shown.yaml': stringify({ policies: shown }) });
  const again = loadPolicies({ dir, registry, settings });

  expect(again.findings).toEqual([]);
  expect(again.policies.map(({ name, hash }) => [name, hash])).toEqual(
    policies.map(({ name, hash }) => [name, hash]),
  );
  expect(shown.find(({ job }) => job === 'update-check')).toMatchObject({ with: { lookback: '14d' } });
});
