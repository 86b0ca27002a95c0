import { expect, test } from 'vitest';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { jobOf } from '../../src/policy/policy-job.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { policiesIn, writtenAgain } from './p.ts';

const registry = await loadJobs();
const settings = loadSettings({ cwd: process.cwd(), env: {}, configPath: 'config/caretaker.yaml' });
const { policies, findings } = loadPolicies({ dir: settings.policiesDir, registry, settings });

test('the policies we ship are right, and the nightly sync looks at every site', () => {
  expect(findings).toEqual([]);
  expect(policies.find(({ name }) => name === 'nightly-sync')?.select).toEqual({
    filters: {},
    sort: 'last_sync_at,asc',
  });
});

test('a policy we ship runs on schedule only if it changes nothing', () => {
  for (const policy of policies) {
    const changes = jobOf(registry, policy)?.changes?.(policy.options);
    expect({ name: policy.name, disabled: policy.schedule?.disabled === true }).toEqual({
      ...{ name: policy.name, disabled: changes?.length !== 0 },
    });
  }
});

test('each policy we ship, shown with every default filled in, is read as the same policy again', () => {
  const shown = writtenAgain(policies, registry);
  expect(policiesIn(shown, { registry, settings }).map(({ name, hash }) => [name, hash])).toEqual(
    policies.map(({ name, hash }) => [name, hash]),
  );
  expect(shown).toContain('lookback: 14d');
});
