/** Files of policies that are given as text, and what is said of them. */
import { expect } from 'vitest';
import { stringify } from 'yaml';
import type { Registry } from '../../src/job/registry.ts';
import { asWritten } from '../../src/policy/as-written.ts';
import { type Loaded, loadPolicies } from '../../src/policy/load-policies.ts';
import type { Policy } from '../../src/policy/policy.ts';
import type { Settings } from '../../src/settings/settings.ts';
import { folderWith } from '../settings/folder.ts';
import { told } from '../settings/load.ts';
import { registry as tinyRegistry } from './tiny-job.ts';

/** The policy `p` with these lines in it. */
export const entryWith = (lines: string, head = ''): string =>
  `${head}policies:\n  - name: p\n${lines.replace(/^(?=.)/gm, '    ')}\n`;

/** The policy `p` for the small job, with these lines in it. */
export const policyWith = (lines: string): string => entryWith(`job: site-sync\n${lines}`);

/** Reads a file, or several by their names. */
export function read(
  files: string | Record<string, string>,
  { registry = tinyRegistry, settings }: { registry?: Registry; settings?: Settings } = {},
): Loaded & { dir: string } {
  const dir = folderWith(typeof files === 'string' ? { 'p.yaml': files } : files);
  return { ...loadPolicies({ dir, registry, settings }), dir };
}

/** The errors of a file, each with its place and the suggestion. */
export const mistakesIn = (...given: Parameters<typeof read>): string[] => read(...given).findings.map(told);

/** The policies of files without errors. */
export function policiesIn(...given: Parameters<typeof read>): Policy[] {
  const { policies, findings } = read(...given);
  expect(findings).toEqual([]);
  return policies;
}

/** The only policy of a file without errors. */
export function policyIn(...given: Parameters<typeof read>): Policy {
  const [policy] = policiesIn(...given);
  if (!policy) throw new Error('The file holds no policy.');
  return policy;
}

/** A file with these policies as Caretaker would write them. */
export const writtenAgain = (policies: readonly Policy[], registry: Registry = tinyRegistry): string =>
  stringify({ policies: policies.map((policy) => asWritten(policy, registry)) });

/** A line for everything that a policy may say, and nothing of it the default. */
export const everyLine = `description: One
owner: web team
labels: { team: shop, on-call: night shift }
schedule:
  cron: ["0 2 * * *", "0 14 * * 6"]
  timezone: Europe/Berlin
  dst: { gap: skip, overlap: both }
  jitter: 10m
  spread: 1h
  overlap: cancel-running
  catchup: 2h
  blackout: [{ from: 2026-12-20, to: 2027-01-03 }]
  on_blackout: next_workday
  pause_after_failures: 3
select:
  filters: { connection_status: { eq: connected }, tags: { in: ["12"] } }
  where: site.sync.last_sync_at < now - duration("20h")
  sort: last_sync_at,asc
  timezone: Europe/Berlin
  limit: 500
with: { message: Nightly, depth: quick }
limits: { concurrency: 50, max_targets: 20, max_percent: 12.5%, stop_after_failures: 10%, per_client: { concurrency: 2, max_targets: 9 }, per_tag: { concurrency: 3 } }
retry: { attempts: 1, backoff: fixed, delay: 5s, max_delay: 5s }
accept_rejections: [Backups plan]
timeout: { target: 10m, run: 1h30m }
recheck: { max_age: 1m }
deadline: "06:30"
window: { until: 5h }
notify: [{ on: [failed, blocked], to: ops }, { to: ops, route: [{ client: ACME, to: acme }, { tag: b, label: team=web, to: web }, { label: team=shop, to: shop }, { tag: c, to: c }] }]`;
