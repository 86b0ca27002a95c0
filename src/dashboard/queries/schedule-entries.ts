/** One time on the schedule: the result of it, or what is predicted. */

import { isoTimeOrNull } from '../../clock.ts';
import { deadlineAt } from '../../engine/deadline.ts';
import type { Policy } from '../../policy/policy.ts';
import type { ScheduledTime } from '../../records/ledger-store.ts';
import type { PolicyState } from '../../records/policy-store.ts';
import type { Run, RunStatus } from '../../run/run.ts';
import { MAX_SCHEDULED_TIMES } from '../../schedule/cron-times.ts';
import { type PredictedRun, upcomingFirings } from '../../schedule/predicted-runs.ts';
import { formatSkipCause } from '../../schedule/skip-cause.ts';
import { columnsIn } from '../../text.ts';
import type { Reader } from './reader.ts';

/** How many times of a policy in a week. */
export const MAX_OF_POLICY = MAX_SCHEDULED_TIMES;
/** How many runs of the chosen day are read for their duration; for a file so many of the week, and of each policy. */
const MAX_RUNS = 200;
export const MAX_OF_FILE = 5_000;
/** How many times of a policy on one day are shown one by one; more are shown together, with their count. */
export const MAX_SINGLE = 6;
/** A time that passed no longer ago is about to be decided. */
const DECIDED_WITHIN_MS = 60_000;

export type EntryState =
  /** It will run, or will be skipped. */
  | 'planned'
  | 'will be skipped'
  /** Its result. */
  | 'ran'
  | 'skipped'
  | 'missed'
  | 'merged'
  /** It has passed, and no process has decided about it. */
  | 'not decided';

export interface Entry {
  policy: Policy;
  scheduledFor: number;
  /** When it starts or started. */
  at: number;
  state: EntryState;
  /** Why it is skipped, and what else is to be known. */
  note?: string;
  /** How long the run takes or took; undefined when that is not known. */
  ms?: number;
  /** The requests that it needs or needed. */
  requests?: number;
  run?: string;
  status?: RunStatus;
  /** It does not start before `at`, but it is not known when. */
  isEarliest?: true;
  /** When it has to be done. */
  dueBy?: number;
  /** The deadline was missed, or will be by what is predicted. */
  isLate?: boolean;
}

/** A predicted run. */
export function toEntry({
  policy,
  scheduledFor,
  at,
  cost,
  after,
  isEarliest,
  skipCause,
  movedFrom,
}: PredictedRun): Entry {
  const dueBy =
    policy.deadline && deadlineAt(policy.deadline, policy.schedule?.timezone ?? 'UTC', scheduledFor);
  const note = skipCause
    ? formatSkipCause(skipCause)
    : after !== undefined
      ? `after ${after}`
      : movedFrom && 'moved from a day of blackout';
  return {
    policy,
    scheduledFor,
    at,
    state: skipCause ? 'will be skipped' : 'planned',
    ...(cost && !skipCause ? { ms: cost.ms, requests: cost.requests } : {}),
    ...(note === undefined ? {} : { note }),
    ...(isEarliest ? { isEarliest } : {}),
    ...(dueBy === undefined || skipCause
      ? {}
      : { dueBy, isLate: cost !== undefined && at + cost.ms > dueBy }),
  };
}

interface PastSpan {
  from: number;
  to: number;
  now: number;
  chosen: { from: number; to: number };
  /** Of policies with more times than this on the chosen day, no run is read. */
  most: number;
}

/** The result of the times of each policy. The runs of the chosen day are read; those that are over show their end. */
export async function pastEntries(
  reader: Reader,
  policies: readonly Policy[],
  { from, to, chosen, now, most }: PastSpan,
): Promise<Map<string, Entry[]>> {
  if (to <= from) return new Map();
  const ledgers = await Promise.all(
    policies.map(({ name }) => reader.ledgerBetween(name, from, to, MAX_OF_POLICY)),
  );
  const isOnDay = ({ scheduledFor }: ScheduledTime) =>
    scheduledFor >= chosen.from && scheduledFor < chosen.to;
  const ids = ledgers.flatMap((records) => {
    const onDay = records.filter(isOnDay);
    return onDay.length > most ? [] : onDay.flatMap(({ is, run }) => (is === 'ran' && run ? [run] : []));
  });
  const runs = new Map(
    (await reader.runsOf(ids.slice(0, Math.max(most, MAX_RUNS)))).map((run) => [run.id, run]),
  );
  return new Map(
    policies.map((policy, index) => [
      policy.name,
      (ledgers[index] ?? []).map((record) => decided(policy, record, runs.get(record.run ?? ''), now)),
    ]),
  );
}

/** What became of a scheduled time, or of another run. */
export function decided(policy: Policy, record: ScheduledTime, run: Run | undefined, now: number): Entry {
  const { scheduledFor, is, why, note, run: id } = record;
  const shown = why === undefined ? note : formatSkipCause({ why, ...(note === undefined ? {} : { note }) });
  const started = run?.startedAt ?? run?.createdAt;
  return {
    policy,
    scheduledFor,
    at: is === 'ran' ? (started ?? scheduledFor) : scheduledFor,
    state: is,
    ...(shown === undefined ? {} : { note: shown }),
    ...(id === undefined ? {} : { run: id }),
    ...(run && started !== undefined
      ? { status: run.status, ms: (run.finishedAt ?? now) - started, requests: run.requests }
      : {}),
    ...(run?.dueBy === undefined ? {} : { dueBy: run.dueBy, isLate: (run.finishedAt ?? now) > run.dueBy }),
  };
}

/** The times that have passed and have no record: no process was there to decide about them. */
export function undecidedEntries(
  policy: Policy,
  state: PolicyState | undefined,
  { from, now }: { from: number; now: number },
): Entry[] {
  if (state?.cursor === undefined || policy.schedule?.disabled) return [];
  const span = {
    from: Math.max(from - 1, state.cursor),
    until: now - DECIDED_WITHIN_MS,
    limit: MAX_OF_POLICY,
  };
  return upcomingFirings(policy, state, span).map(
    ({ scheduledFor, at }): Entry => ({ policy, scheduledFor, at, state: 'not decided' }),
  );
}

/** The columns of CSV. */
export const entryColumns = columnsIn(
  'policy job account scheduled_for starts_at state why run status seconds requests deadline late',
);
export const entryReport = (entry: Entry) => ({
  ...{ policy: entry.policy.name, job: entry.policy.job, account: entry.policy.account },
  ...{
    scheduled_for: isoTimeOrNull(entry.scheduledFor),
    starts_at: isoTimeOrNull(entry.at),
    state: entry.state,
  },
  ...{ why: entry.note, run: entry.run, status: entry.status, requests: entry.requests },
  seconds: entry.ms === undefined ? null : Math.round(entry.ms / 1000),
  ...{ deadline: isoTimeOrNull(entry.dueBy), late: entry.isLate },
});

/** The entries of a policy on a day: one by one, or together when there are many. */
export type Shown =
  | { is: 'single'; entry: Entry }
  | { is: 'many'; policy: Policy; entries: readonly Entry[]; from: number; to: number };

/** In the order of time. */
export function shownOn(
  lanes: readonly { policy: Policy; entries: readonly Entry[] }[],
  { from, to }: { from: number; to: number },
): Shown[] {
  const all = lanes.flatMap(({ policy, entries }): Shown[] => {
    const onDay = entries.filter(({ at }) => at >= from && at < to);
    const [first, last] = [onDay[0], onDay.at(-1)];
    if (!first || !last) return [];
    if (onDay.length <= MAX_SINGLE) return onDay.map((entry): Shown => ({ is: 'single', entry }));
    return [{ is: 'many', policy, entries: onDay, from: first.at, to: last.at }];
  });
  return all.sort((a, b) => startOf(a) - startOf(b));
}

export const startOf = (one: Shown): number => (one.is === 'single' ? one.entry.at : one.from);

/** How many of the entries have each state, in this order: `286 planned, 1 missed`. */
export function statesInWords(entries: readonly Entry[]): string {
  const counts = new Map<EntryState, number>();
  for (const { state } of entries) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${count} ${state}`).join(', ');
}
