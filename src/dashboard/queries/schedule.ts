/**
 * What is on the schedule: of the past what the ledgers show, of the future what is predicted from the schedules and
 * the last runs. Days are those of the reader's time zone.
 */
import { DAY_MS, dayIn, daysAfter, HOUR_MS, startOfDay } from '../../dates.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Freeze } from '../../records/freeze-store.ts';
import type { PolicyState } from '../../records/policy-store.ts';
import { type Collision, collisionsOf, loadOf, unknownIn } from '../../schedule/load.ts';
import { type PredictedRun, predictedRuns, type UsualCost } from '../../schedule/predicted-runs.ts';
import type { AccountView } from '../options.ts';
import { type ClosedTime, closedTimes } from './closed-times.ts';
import type { Reader } from './reader.ts';
import {
  type Entry,
  MAX_OF_FILE,
  MAX_OF_POLICY,
  MAX_SINGLE,
  pastEntries,
  toEntry,
  undecidedEntries,
} from './schedule-entries.ts';

/** The days that can be looked at: the ledgers keep about as many, and further times are only those of the crons. */
export const DAYS_AROUND = 370;

/** The days of a week and the chosen one, as they are in a time zone. */
export interface Calendar {
  zone: string;
  /** The chosen day: `2026-11-24`. */
  day: string;
  today: string;
  /** From Monday to Sunday, with the first instant of each, and that of the day after it. */
  days: { day: string; from: number; to: number }[];
}

/** The week of a day; of today without one, or with one that is no day or too far away. */
export function calendarOf(wanted: string | undefined, zone: string, now: number): Calendar {
  const today = dayIn(zone, now);
  const isDay = wanted !== undefined && /^\d{4}-\d\d-\d\d$/.test(wanted) && !Number.isNaN(Date.parse(wanted));
  const isNear = isDay && Math.abs(Date.parse(wanted) - Date.parse(today)) <= DAYS_AROUND * DAY_MS;
  const day = isNear ? wanted : today;
  const monday = daysAfter(day, -((new Date(day).getUTCDay() + 6) % 7));
  const days = [0, 1, 2, 3, 4, 5, 6].map((index) => {
    const one = daysAfter(monday, index);
    return { day: one, from: startOfDay(zone, one), to: startOfDay(zone, daysAfter(one, 1)) };
  });
  return { zone, day, today, days };
}

/** The predicted requests of an account in each hour of the day. */
export interface AccountLoad {
  account: string;
  /** The requests an hour that can be spent: the limit without the reserve. */
  perHour: number;
  /** Those of each policy in each hour, the largest sum first. */
  policies: { policy: string; requests: number[] }[];
}

export interface Week {
  calendar: Calendar;
  /** By policy, in the order of time; those that run next first. */
  lanes: { policy: Policy; entries: Entry[] }[];
  /** The hours of the chosen day that are not over, and the load in them. */
  hours: { from: number; to: number }[];
  load: AccountLoad[];
  collisions: Collision[];
  /** Policies without a known duration, and those of them that run on the chosen day. */
  unknown: string[];
  unknownOnDay: string[];
  freezes: Freeze[];
  closed: ClosedTime[];
  /** Policies of which not all times of the week are read. */
  cut: string[];
}

interface Given {
  policies: readonly Policy[];
  accounts: readonly AccountView[];
  calendar: Calendar;
  now: number;
  /** Whether the results of all days are wanted, not only those of the chosen one. */
  isFile?: boolean;
}

/** Reads the ledger of every policy for the week, and its last runs at most once a minute. */
export async function readWeek(
  reader: Reader,
  { policies, accounts, calendar, now, isFile = false }: Given,
): Promise<Week> {
  const [from, to] = [calendar.days[0]?.from ?? now, calendar.days.at(-1)?.to ?? now];
  const chosen = calendar.days.find(({ day }) => day === calendar.day) ?? { from: now, to: now };
  const scheduled = policies.filter(({ schedule }) => schedule);
  const [states, costs, freezes] = await Promise.all([
    reader.policyStates(scheduled),
    costsOf(reader, scheduled),
    reader.freezes(now, { from, to }),
  ]);
  const runs = predictedRuns(
    scheduled,
    { states, costs },
    // Those after `from` are given, and one at the very start belongs to the week.
    { from: Math.max(now, from - 1), until: to - 1, limit: MAX_OF_POLICY },
  ).filter(({ at }) => at >= from);
  const past = await pastEntries(reader, scheduled, {
    ...{ from, to: Math.min(to, now), now },
    ...(isFile ? { chosen: { from, to }, most: MAX_OF_FILE } : { chosen, most: MAX_SINGLE }),
  });
  const lanes = lanesOf(scheduled, { runs, past, states, from, now });
  const hours = hoursOf(chosen).filter((hour) => hour.to > now);
  return {
    calendar,
    lanes,
    hours,
    load: accounts.map((one) => loadIn(one, runs, hours)),
    collisions: collisionsOf(runs, new Map(accounts.map((one) => [one.account, spendable(one)]))),
    unknown: unknownIn(runs),
    unknownOnDay: unknownIn(runs.filter(({ at }) => at >= chosen.from && at < chosen.to)),
    freezes: freezes.filter((freeze) => freeze.at < to && freeze.until > from),
    closed: closedTimes(policies, states, freezes, { from, to, now }),
    cut: lanes.filter(({ entries }) => entries.length >= MAX_OF_POLICY).map(({ policy }) => policy.name),
  };
}

/** What a run of each policy usually takes; none for those of which no run has ended. */
export async function costsOf(
  reader: Pick<Reader, 'usualCost'>,
  policies: readonly Policy[],
): Promise<Map<string, UsualCost>> {
  const costs = await Promise.all(policies.map((policy) => reader.usualCost(policy)));
  return new Map(policies.flatMap(({ name }, index) => (costs[index] ? [[name, costs[index]]] : [])));
}

/** The requests a minute that may be spent. */
export const spendable = ({ limit, reserved }: Pick<AccountView, 'limit' | 'reserved'>): number =>
  Math.max(0, limit - reserved);

function lanesOf(
  policies: readonly Policy[],
  {
    runs,
    past,
    states,
    from,
    now,
  }: {
    runs: readonly PredictedRun[];
    past: ReadonlyMap<string, Entry[]>;
    states: ReadonlyMap<string, PolicyState>;
    from: number;
    now: number;
  },
): Week['lanes'] {
  const ahead = new Map<string, Entry[]>();
  for (const run of runs) {
    const entries = ahead.get(run.policy.name) ?? [];
    entries.push(toEntry(run));
    ahead.set(run.policy.name, entries);
  }
  return policies
    .map((policy) => {
      const decided = past.get(policy.name) ?? [];
      const undecided = undecidedEntries(policy, states.get(policy.name), { from, now }).filter(
        ({ scheduledFor }) => !decided.some((one) => one.scheduledFor === scheduledFor),
      );
      const all = [...decided, ...undecided, ...(ahead.get(policy.name) ?? [])];
      return { policy, entries: all.sort((a, b) => a.at - b.at) };
    })
    .filter(({ entries }) => entries.length > 0)
    .sort((a, b) => (a.entries[0]?.at ?? 0) - (b.entries[0]?.at ?? 0));
}

/** Days have 23 to 25 hours. */
function hoursOf({ from, to }: { from: number; to: number }): { from: number; to: number }[] {
  const count = Math.ceil((to - from) / HOUR_MS);
  return Array.from({ length: count }, (_, index) => ({
    from: from + index * HOUR_MS,
    to: Math.min(to, from + (index + 1) * HOUR_MS),
  }));
}

function loadIn(
  one: AccountView,
  runs: readonly PredictedRun[],
  hours: readonly { from: number; to: number }[],
): AccountLoad {
  const own = runs.filter(({ policy }) => policy.account === one.account);
  const policies = [...loadOf(own, hours)]
    .map(([policy, requests]) => ({ policy, requests: requests.map(Math.round) }))
    .filter(({ requests }) => sum(requests) > 0)
    .sort((a, b) => sum(b.requests) - sum(a.requests));
  return { account: one.account, perHour: spendable(one) * 60, policies };
}

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);
