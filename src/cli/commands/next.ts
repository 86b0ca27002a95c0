import { isoTime } from '../../clock.ts';
import { localTimezone } from '../../dates.ts';
import type { Policy } from '../../policy/policy.ts';
import type { PolicyState } from '../../records/policy-store.ts';
import type { Records } from '../../records/records.ts';
import { formatSkipCause } from '../../schedule/skip-cause.ts';
import { type UpcomingFiring, upcomingFirings } from '../../schedule/upcoming.ts';
import { wallTime } from '../../schedule/wall-time.ts';
import {
  type GlobalOptions,
  hasRecords,
  policiesOf,
  printFindings,
  settingsOf,
  withRecords,
} from '../context.ts';
import { findActivePolicy, keptByDaemons } from '../effective-policies.ts';
import { exit } from '../exit.ts';
import { type Terminal, table } from '../output/terminal.ts';

type Row = UpcomingFiring & { policy: Policy };

const DAY_MS = 86_400_000;

/** Lists the upcoming scheduled runs of all policies, or of the named ones, in order of time. */
export async function next(
  terminal: Terminal,
  names: readonly string[],
  options: GlobalOptions & { days: number; limit: number },
): Promise<number> {
  const settings = settingsOf(options);
  const loaded = await policiesOf(settings);
  const collect = async (records?: Records, now = Date.now()) => {
    const kept = records ? (await keptByDaemons(records, now)).map(({ policy }) => policy) : [];
    const own = new Set(loaded.policies.map(({ name }) => name));
    const all = [...loaded.policies, ...kept.filter(({ name }) => !own.has(name))];
    const chosen =
      names.length === 0
        ? all
        : await Promise.all(names.map((name) => findActivePolicy(name, settings, records, now)));
    const states = await records?.policies.many(chosen.map(({ name }) => name));
    return chosen.map((policy) => upcoming(policy, states?.get(policy.name), now, options));
  };
  // A command that only reads does not start the embedded Redis.
  const found = hasRecords(settings)
    ? await withRecords(options, settings, ({ records, clock }) => collect(records, clock.now()))
    : await collect();
  const rows = found.flatMap((one) => one.rows).sort((a, b) => a.at - b.at);
  if (options.json) terminal.json(rows.map(asJson));
  else show(terminal, rows, options);
  for (const { policy, more } of found)
    if (more)
      terminal.message(`${policy.name} has more runs than shown. Use --limit to show more per policy.`);
  if (names.length === 0) printFindings(loaded.findings, terminal);
  return names.length === 0 && loaded.findings.length > 0 ? exit.badInput : exit.ok;
}

function upcoming(
  policy: Policy,
  state: PolicyState | undefined,
  now: number,
  { days, limit }: { days: number; limit: number },
): { policy: Policy; rows: Row[]; more: boolean } {
  const span = { from: now, until: now + days * DAY_MS, limit: limit + 1 };
  const firings = upcomingFirings(policy, state ?? { failures: 0 }, span);
  const rows = firings.slice(0, limit).map((firing) => ({ ...firing, policy }));
  return { policy, rows, more: firings.length > limit };
}

const asJson = ({ policy, scheduledFor, at, skipCause }: Row) => ({
  policy: policy.name,
  job: policy.job,
  scheduled_for: isoTime(scheduledFor),
  fires_at: isoTime(at),
  timezone: policy.schedule?.timezone ?? 'UTC',
  wall_time: wallTime(at, policy.schedule?.timezone ?? 'UTC'),
  local_time: wallTime(at, localTimezone()),
  skipped: skipCause ? { why: skipCause.why, note: skipCause.note ?? null } : null,
});

function show(terminal: Terminal, rows: readonly Row[], { days }: { days: number }): void {
  if (rows.length === 0) {
    terminal.message(`No runs are scheduled in the next ${days === 1 ? 'day' : `${days} days`}.`);
    return;
  }
  const here = localTimezone();
  const cells = rows.map(({ policy, at, skipCause }) => {
    const zone = policy.schedule?.timezone ?? 'UTC';
    const note = skipCause ? terminal.paint('yellow', `skipped: ${formatSkipCause(skipCause)}`) : '';
    return [`${wallTime(at, zone)} ${zone}`, wallTime(at, here), policy.name, policy.job, note];
  });
  terminal.data(table(['time (policy)', `time (${here})`, 'policy', 'job', ''], cells, terminal.paint));
}
