/** A policy as YAML with every default. */
import { expect, test } from 'vitest';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { yamlWithDefaults } from '../../src/policy/with-defaults.ts';
import { folderWith } from '../settings/folder.ts';
import { everyLine, policyWith } from './p.ts';
import { registry } from './tiny-job.ts';

const load = (text: string) => {
  const { policies, findings } = loadPolicies({ dir: folderWith({ 'a.yaml': text }), registry });
  expect(findings).toEqual([]);
  const [policy] = policies;
  if (!policy) throw new Error('not read');
  return policy;
};
const marked = (text: string) => text.split('\n').filter((line) => line.endsWith('# default'));

test.each(['', everyLine, 'approval: { when: always }\nrollout: { batches: [1] }'])(
  'what is shown is read as the same policy',
  (lines) => {
    const policy = load(policyWith(lines));
    const again = load(yamlWithDefaults(policy, registry));
    expect(again).toEqual({ ...policy, file: again.file, line: again.line });
  },
);

test('every value that holds without being written is marked, and no other', () => {
  const text = yamlWithDefaults(
    load(policyWith('schedule: { cron: "0 2 * * *", timezone: Europe/Berlin }\nlimits: { concurrency: 50 }')),
    registry,
  );
  const lines = text.split('\n').map((line) => line.trim());
  expect(lines).toContain('- name: p');
  expect(lines).toContain('job: site-sync');
  expect(lines).toContain('account: default # default');
  expect(lines).toContain('cron: 0 2 * * *');
  expect(lines).toContain('timezone: Europe/Berlin');
  expect(lines).toContain('overlap: skip # default');
  expect(lines).toContain('blackout: [] # default');
  expect(lines).toContain('concurrency: 50');
  expect(lines).toContain('max_targets: 1000 # default');
});

test('a policy without any default has no mark but on what cannot differ', () => {
  expect(marked(yamlWithDefaults(load(policyWith(everyLine)), registry))).toEqual([
    '    account: default # default',
    '    priority: normal # default',
  ]);
});

test('the default time limit of a target follows that of the run', () => {
  const text = yamlWithDefaults(load(policyWith('timeout: { run: 1h }')), registry);
  expect(text).toContain('target: 1h # default\n      run: 1h\n');
});

test('a policy knows the line of its file', () => {
  expect(load(policyWith('')).line).toBe(2);
  expect(load(`# one\n# two\n${policyWith('')}`).line).toBe(4);
});
