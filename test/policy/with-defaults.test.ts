/** A policy in the words of its file: as it was written, and as YAML with every default. */
import { expect, test } from 'vitest';
import { yamlWithDefaults } from '../../src/policy/with-defaults.ts';
import { everyLine, policiesIn, policyIn, policyWith, writtenAgain } from './p.ts';
import { registry } from './tiny-job.ts';

const shown = (lines: string) => yamlWithDefaults(policyIn(policyWith(lines)), registry);

const rollout = `approval: { when: { over: { targets: 5 } }, by: [approver], expires: 3d, separate: true, each_batch: true }
rollout: { batches: [{ where: site.id == "1" }, 10%, 5], pause: 2h, max_failed: 5%, healthy: site.id != "2", wait_when_closed: 1d }`;

test.each(['', everyLine, rollout, 'approval: { when: always }\nrollout: { batches: [1] }'])(
  'what is shown is read as the same policy',
  (lines) => {
    const policy = policyIn(policyWith(lines));
    const again = policyIn(shown(lines));
    expect(again).toEqual({ ...policy, file: again.file, line: again.line });
  },
);

test('a chain in the words of its file is read as the same chain', () => {
  const policies = policiesIn(
    `${policyWith('')}  - { name: check, job: site-sync, schedule: { after: { policy: p, status: [failed] } } }\n`,
  );
  expect(policiesIn(writtenAgain(policies)).map(({ hash }) => hash)).toEqual(
    policies.map(({ hash }) => hash),
  );
});

test('every value that holds without being written is marked, and no other', () => {
  const lines = shown(
    'schedule: { cron: "0 2 * * *", timezone: Europe/Berlin }\nlimits: { concurrency: 50 }',
  ).split('\n');
  expect(lines.map((line) => line.trim())).toEqual(
    expect.arrayContaining([
      ...['- name: p', 'job: site-sync', 'account: default # default'],
      ...['cron: 0 2 * * *', 'timezone: Europe/Berlin', 'jitter: 0 # default', 'overlap: skip # default'],
      ...['catchup: 0 # default', 'blackout: [] # default'],
      ...['concurrency: 50', 'max_targets: 1000 # default', 'max_percent: 100% # default'],
      ...['attempts: 4 # default', 'backoff: exponential # default', 'delay: 30s # default'],
      ...['max_delay: 15m # default', 'target: 2h # default', 'run: 8h # default'],
    ]),
  );
});

test('a policy without any default has no mark but on what cannot differ', () => {
  const marked = shown(everyLine)
    .split('\n')
    .filter((line) => line.endsWith('# default'));
  expect(marked).toEqual(['    account: default # default', '    priority: normal # default']);
});

test('the default time limit of a target follows that of the run', () => {
  expect(shown('timeout: { run: 1h }')).toContain('target: 1h # default\n      run: 1h\n');
});

test('a policy knows the line of its file', () => {
  expect(policyIn(policyWith('')).line).toBe(2);
  expect(policyIn(`# one\n# two\n${policyWith('')}`).line).toBe(4);
});
