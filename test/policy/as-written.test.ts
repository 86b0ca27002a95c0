import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { asWritten } from '../../src/policy/as-written.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { folderWith } from '../settings/folder.ts';
import { everyLine, policyWith } from './p.ts';
import { registry } from './tiny-job.ts';

const load = (text: string) => {
  const { policies, findings } = loadPolicies({ dir: folderWith({ 'a.yaml': text }), registry });
  expect(findings).toEqual([]);
  return policies;
};

const rollout = `approval: { when: { over: { targets: 5 } }, by: [approver], expires: 3d, separate: true, each_batch: true }
rollout: { batches: [{ where: site.id == "1" }, 10%, 5], pause: 2h, max_failed: 5%, healthy: site.id != "2", wait_when_closed: 1d }`;

test.each(['', everyLine, rollout])(
  'a policy in the words of its file is read as the same policy',
  (lines) => {
    const [policy] = load(policyWith(lines));
    if (!policy) throw new Error('not read');

    const [again] = load(stringify({ policies: [asWritten(policy, registry)] }));

    expect(again).toEqual({ ...policy, file: again?.file });
  },
);

test('defaults are filled in, in the words of the file', () => {
  const [policy] = load('policies: [{ name: p, job: site-sync, schedule: { cron: "0 2 * * *" } }]\n');
  expect(policy && asWritten(policy, registry)).toMatchObject({
    account: 'default',
    schedule: { cron: '0 2 * * *', timezone: 'UTC', jitter: 0, overlap: 'skip', catchup: 0 },
    limits: { concurrency: 20, max_targets: 1000, max_percent: '100%' },
    retry: { attempts: 4, backoff: 'exponential', delay: '30s', max_delay: '15m' },
    timeout: { target: '2h', run: '8h' },
  });
});
