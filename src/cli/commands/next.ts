import { isoTime } from '../../clock.ts';
import { localTimezone } from '../../dates.ts';
import { type ChainNode, chainsOf } from '../../policy/chains.ts';
import type { Policy } from '../../policy/policy.ts';
import type { PolicyState } from '../../records/policy-store.ts';
import type { Records } from '../../records/records.ts';
import { formatSkipCause, skipCauseOf } from '../../schedule/skip-cause.ts';
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
import { show } from '../output/show.ts';
import { type Terminal, table } from '../output/terminal.ts';

/** A firing of a policy, or a run that follows one: nobody knows when that starts, only that it is not before. */
type Row = UpcomingFiring & { policy: Policy; after?: string; depth: number };
type States = ReadonlyMap<string, PolicyState> | undefined;

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
    const states = await records?.policies.many(all);
    const wanted = new Set(chosen.map(({ name }) => name));
    const known = [...all, ...chosen.filter(({ name }) => !all.some((one) => one.name === name))];
    return chainsOf(known).map((chain) => {
      const { rows, more } = upcoming(chain, states, now, options);
      const shown = rows.filter(({ policy }) => wanted.has(policy.name));
      return { policy: chain.policy, rows: shown, more: more && shown.length > 0 };
    });
  };
  // A command that only reads does not start the embedded Redis.
  const found = hasRecords(settings)
    ? await withRecords(options, settings, ({ records, clock }) => collect(records, clock.now()))
    : await collect();
  const rows = found.flatMap((one) => one.rows).sort((a, b) => a.at - b.at);
  await show(terminal, options, {
    value: rows.map(asJson),
    columns,
    text: () => print(terminal, rows, options),
  });
  for (const { policy, more } of found)
    if (more)
      terminal.message(`${policy.name} has more runs than shown. Use --limit to show more per policy.`);
  if (names.length === 0) printFindings(loaded.findings, terminal);
  return names.length === 0 && loaded.findings.length > 0 ? exit.badInput : exit.ok;
}

/** The firings of the first policy of a chain, each with the runs that follow it. */
function upcoming(
  chain: ChainNode<Policy>,
  states: States,
  now: number,
  { days, limit }: { days: number; limit: number },
): { rows: Row[]; more: boolean } {
  const { policy } = chain;
  const span = { from: now, until: now + days * DAY_MS, limit: limit + 1 };
  const firings = upcomingFirings(policy, states?.get(policy.name) ?? { failures: 0 }, span);
  const rows = firings.slice(0, limit).flatMap((firing): Row[] => [
    { ...firing, policy, depth: 0 },
    // What is skipped has no end that another policy could follow.
    ...(firing.skipCause ? [] : following(chain, states, firing.at, 1)),
  ]);
  return { rows, more: firings.length > limit };
}

function following(
  { policy, followers }: ChainNode<Policy>,
  states: States,
  at: number,
  depth: number,
): Row[] {
  return followers.flatMap((next): Row[] => {
    const { name, schedule } = next.policy;
    const skipCause =
      schedule && skipCauseOf(schedule, states?.get(name) ?? {}, { scheduledFor: at, dueAt: at });
    return [
      {
        policy: next.policy,
        scheduledFor: at,
        at,
        after: policy.name,
        depth,
        ...(skipCause ? { skipCause } : {}),
      },
      ...(skipCause ? [] : following(next, states, at, depth + 1)),
    ];
  });
}

const columns = [
  ...['policy', 'job', 'after', 'not_before', 'scheduled_for', 'fires_at', 'moved_from', 'timezone'],
  ...['wall_time', 'local_time', 'skipped.why', 'skipped.note'],
];

const asJson = ({ policy, scheduledFor, at, after, skipCause, movedFrom = [] }: Row) => ({
  policy: policy.name,
  job: policy.job,
  ...(after === undefined ? {} : { after, not_before: isoTime(at) }),
  scheduled_for: after === undefined ? isoTime(scheduledFor) : null,
  fires_at: after === undefined ? isoTime(at) : null,
  moved_from: movedFrom.map(isoTime),
  timezone: policy.schedule?.timezone ?? 'UTC',
  wall_time: after === undefined ? wallTime(at, policy.schedule?.timezone ?? 'UTC') : null,
  local_time: after === undefined ? wallTime(at, localTimezone()) : null,
  skipped: skipCause ? { why: skipCause.why, note: skipCause.note ?? null } : null,
});

function print(terminal: Terminal, rows: readonly Row[], { days }: { days: number }): void {
  if (rows.length === 0) {
    terminal.message(`No runs are scheduled in the next ${days === 1 ? 'day' : `${days} days`}.`);
    return;
  }
  const here = localTimezone();
  const cells = rows.map(({ policy, at, after, depth, skipCause, movedFrom }) => {
    const zone = policy.schedule?.timezone ?? 'UTC';
    const moved = movedFrom
      ? `moved from ${movedFrom.map((time) => wallTime(time, zone)).join(' and ')}`
      : '';
    const note = skipCause ? terminal.paint('yellow', `skipped: ${formatSkipCause(skipCause)}`) : moved;
    if (after !== undefined)
      return [`${'  '.repeat(depth)}after ${after}`, '', policy.name, policy.job, note];
    return [`${wallTime(at, zone)} ${zone}`, wallTime(at, here), policy.name, policy.job, note];
  });
  terminal.data(table(['time (policy)', `time (${here})`, 'policy', 'job', ''], cells, terminal.paint));
}
