/** Files with one policy in them, for tests of how they are read. */

/** The policy `p` with these lines in it. */
export const policyWith = (lines: string): string =>
  `policies:\n  - name: p\n    job: site-sync\n${lines.replace(/^(?=.)/gm, '    ')}\n`;

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
