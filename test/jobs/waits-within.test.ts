/** A job that waits longer than the time limits of its policy is reported when the policy is loaded. */
import { expect, test } from 'vitest';
import { reportDispatch } from '../../jobs/report-dispatch/job.ts';
import { updateCheck } from '../../jobs/update-check/job.ts';
import { createRegistry } from '../../src/job/registry.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { folderWith } from '../settings/folder.ts';

function mistakesOf(lines: string): string[] {
  const dir = folderWith({ 'p.yaml': `policies:\n  - name: p\n${lines.replace(/^(?=.)/gm, '    ')}\n` });
  return loadPolicies({ dir, registry: createRegistry([reportDispatch, updateCheck]) }).findings.map(
    ({ line, column, message, suggestion }) => `${line}:${column} ${message} ${suggestion}`,
  );
}

const suggestion = 'make it shorter than timeout.target, or increase timeout.target';

test('the time to follow runs must be shorter than the time limit of a target', () => {
  expect(mistakesOf('job: update-check\ntimeout: { target: 3h }\nwith:\n  follow_for: 3h')).toEqual([
    `6:19 "follow_for" is 3h, and "timeout.target" ends the work on a target after 3h. ${suggestion}`,
  ]);
  expect(mistakesOf('job: update-check\ntimeout: { target: 3h }\nwith:\n  follow_for: 2h59m')).toEqual([]);
});

test('the time to follow mails must be shorter than the time limit of a target or run, also by default', () => {
  const report = (lines: string) => mistakesOf(`job: report-dispatch\nwith: { template: t-1 }\n${lines}`);
  expect(report('')).toEqual([]);
  expect(report('timeout: { run: 30m }')).toEqual([
    `4:11 "delivery_timeout" is 1h, and "timeout.target" ends the work on a target after 30m. ${suggestion}`,
  ]);
});

test('a limit that cannot be parsed is the only error', () => {
  const mistakes = mistakesOf('job: update-check\ntimeout: { target: soon }');
  expect(mistakes).toHaveLength(1);
  expect(mistakes[0]).toContain('"target"');
});
