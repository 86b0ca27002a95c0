import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { asWritten } from '../../src/policy/as-written.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { folderWith } from '../settings/folder.ts';
import { registry } from './tiny-job.ts';

const load = (text: string) => {
  const { policies, findings } = loadPolicies({ dir: folderWith({ 'a.yaml': text }), registry });
  expect(findings).toEqual([]);
  return policies;
};

test.each([
  'name: p\n    job: site-sync',
  `name: p
    description: One
    job: site-sync
    schedule:
      cron: ["0 2 * * *", "0 14 * * 6"]
      timezone: Europe/Berlin
      dst: { gap: skip, overlap: both }
      jitter: 10m
      spread: 1h
      overlap: cancel-running
      catchup: 2h
      blackout: [{ from: 2026-12-20, to: 2027-01-03 }]
      pause_after_failures: 3
    select:
      filters: { connection_status: { eq: connected }, tags: { in: ["12"] } }
      where: site.sync.last_sync_at < now - duration("20h")
      sort: last_sync_at,asc
      timezone: Europe/Berlin
      limit: 500
    with: { message: Nightly, depth: quick }
    limits: { concurrency: 50, max_targets: 20, max_percent: 12.5%, stop_after_failures: 10% }
    retry: { attempts: 1, backoff: fixed, delay: 5s, max_delay: 5s }
    timeout: { target: 10m, run: 1h30m }
    notify: [{ on: [failed, blocked], to: ops }, { to: ops }]`,
])('a policy in the words of its file is read as the same policy', (entry) => {
  const [policy] = load(`policies:\n  - ${entry}\n`);
  if (!policy) throw new Error('not read');

  const [again] = load(stringify({ policies: [asWritten(policy, registry)] }));

  expect(again).toEqual({ ...policy, file: again?.file });
});

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
