/**
 * Fires policies when they are due, with any number of daemons on one Redis.
 *
 * Each tick reads the scheduled times between a policy's cursor in Redis and now. The cursor moves only
 * after the run was made, so a daemon that dies loses nothing. A run's id consists of policy and scheduled
 * time, so the daemon that takes over makes no second run.
 */
import type { Clock } from '../clock.ts';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { chainFault, formatChainFault, linkOf, linksByName } from '../policy/chains.ts';
import type { Policy, Schedule } from '../policy/policy.ts';
import type { ScheduledTime } from '../records/ledger-store.ts';
import type { PolicyState } from '../records/policy-store.ts';
import type { Records } from '../records/records.ts';
import { chainedDueAt, chainStart, isChained, predecessorEnds, whatFollows } from './chain.ts';
import { startCronTick, type Tick } from './cron-tick.ts';
import { dueAt } from './cron-times.ts';
import { cursorFor, type Decision, type Due, type ScheduleState, timesKey, whatIsDue } from './due.ts';
import { logSkipped, recordOf } from './skipped-times.ts';

export interface ScheduledFiring {
  trigger: 'schedule' | 'catch-up' | 'after';
  /** The scheduled time, without jitter, in milliseconds since 1970. */
  scheduledFor: number;
  /** The run whose end it is, of a policy that follows another. */
  afterRun?: string;
}

export interface SchedulerDeps {
  /** The policies that this process fires; called at every tick. */
  policies: () => readonly Policy[];
  /** All policies that are known here: a policy may follow one that another process fires. Default: the same. */
  known?: () => readonly Policy[];
  /** Makes the run of a firing, unless it exists already. The engine's `fire`. */
  fire: (policy: Policy, firing: ScheduledFiring) => Promise<unknown>;
  /** Until when a policy waits, because its file was changed just before; in the past: it fires at once. */
  waitsUntil?: (policy: Policy) => number;
  records: Pick<Records, 'policies' | 'ledger' | 'ends' | 'runs' | 'locks' | 'generation'>;
  clock: Clock;
  log: Log;
}

export interface SchedulerOptions extends SchedulerDeps {
  /** Identifies these policies: daemons that fire the same share their ticks. Default: all daemons do. */
  group?: () => string;
  /** Calls `answer` repeatedly. Default: node-cron, every 5 s, in one of all daemons. */
  tick?: (answer: () => Promise<void>) => Tick;
}

export interface Scheduler {
  /** When this process last noticed a tick; its start before the first one. */
  beatAt(): number;
  /** Stops the ticks; resolves when the active one is done. */
  stop(): Promise<void>;
}

/**
 * What this process remembers of each policy, by name: before `dueAt` there is nothing to read. Only a cache;
 * a tick with an empty one does the same.
 */
export type Agenda = Map<string, Known>;
interface Known {
  hash: string;
  dueAt: number;
  failure?: string;
  /** The latest end of the predecessor's runs that was looked at (`schedule.after`). */
  endsTo?: number;
}

type ScheduledPolicy = Policy & { schedule: Schedule };

/** How many policies fire concurrently: each waits for Redis a few times. */
const MAX_CONCURRENT = 20;

/** How often a backlog that is caught up in turn is checked. */
const IN_TURN_INTERVAL_MS = 1_000;

/** The process that answers a tick also fires, on time, what is due before the next tick. */
const WATCH_INTERVAL_MS = 6_000;

/** Starts firing the policies; one call a process. */
export function startScheduler({ tick, group, ...deps }: SchedulerOptions): Scheduler {
  const { records, clock, log } = deps;
  const agenda: Agenda = new Map();
  let beatAt = clock.now();
  const onBeat = () => {
    beatAt = clock.now();
  };
  let watch = { over: new AbortController(), ended: Promise.resolve() };
  const endWatch = async () => {
    watch.over.abort();
    await watch.ended;
  };
  let epoch: string | undefined;
  let answeredAt = clock.now();
  const answer = async () => {
    await endWatch();
    // After Redis was emptied or restored, or its clock went back, nothing that is remembered of its cursors is valid.
    if (epoch !== records.generation.epoch || clock.now() < answeredAt) agenda.clear();
    epoch = records.generation.epoch;
    answeredAt = clock.now();
    await tickOnce(deps, agenda);
    onBeat();
    const over = new AbortController();
    watch = { over, ended: keepWatch(deps, agenda, over.signal) };
  };
  const ticking = tick
    ? tick(answer)
    : startCronTick({ answer, onBeat, locks: records.locks, clock, log, ...(group ? { group } : {}) });
  return {
    beatAt: () => beatAt,
    async stop() {
      await ticking.stop();
      await endWatch();
    },
  };
}

/** Fires, on time, what is due before this daemon or another answers the next tick; never rejects. */
async function keepWatch(deps: SchedulerDeps, agenda: Agenda, over: AbortSignal): Promise<void> {
  const { clock, log } = deps;
  let now = clock.now();
  const until = now + WATCH_INTERVAL_MS;
  while (!over.aborted) {
    const next = nextIn(agenda, now);
    if (next >= until) return;
    await clock.sleep(next - clock.now(), over);
    if (over.aborted) return;
    now = Math.max(clock.now(), next);
    await tickOnce(deps, agenda).catch((error: unknown) =>
      log.error({ err: error }, 'the scheduler could not read what is due'),
    );
  }
}

/** When something is due next, after `now`; what was due before and failed waits for the next tick. */
function nextIn(agenda: Agenda, now: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { dueAt } of agenda.values()) if (dueAt > now && dueAt < next) next = dueAt;
  return next;
}

/**
 * Answers one tick: fires everything that is due and was not fired yet by any daemon.
 *
 * An error of one policy is logged, and the policy is tried again at the next tick; the others fire. Costs
 * nothing while nothing is due, else one read for all policies concerned and a few commands for each firing.
 */
export async function tickOnce(deps: SchedulerDeps, agenda: Agenda = new Map()): Promise<void> {
  const now = deps.clock.now();
  const all = deps.policies().filter(hasSchedule);
  forgetOthers(agenda, all);
  const scheduled = withoutFaults(deps, agenda, all);
  const latestEnds = await deps.records.ends.latest(predecessorsOf(scheduled));
  const concerned = scheduled.filter(({ name, hash, schedule: { after } }) => {
    const known = agenda.get(name);
    if (known?.hash !== hash || known.dueAt <= now) return true;
    return after !== undefined && (latestEnds.get(after.policy) ?? 0) > (known.endsTo ?? 0);
  });
  if (concerned.length === 0) return;
  const states = await deps.records.policies.many(concerned);
  const waiting = concerned.values();
  const fireNext = async () => {
    for (const policy of waiting) await fireDue(deps, agenda, policy, states.get(policy.name), now);
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, fireNext));
}

const hasSchedule = (policy: Policy): policy is ScheduledPolicy => policy.schedule !== undefined;

const predecessorsOf = (policies: readonly ScheduledPolicy[]): string[] => [
  ...new Set(policies.flatMap(({ schedule }) => schedule.after?.policy ?? [])),
];

/**
 * The policies that can be scheduled. One whose predecessor is gone, or that follows itself through others, is
 * logged once and starts nothing until that is corrected; its cursor stays, so that no end is lost.
 */
function withoutFaults(
  { policies, known = policies, log }: SchedulerDeps,
  agenda: Agenda,
  scheduled: readonly ScheduledPolicy[],
): readonly ScheduledPolicy[] {
  if (!scheduled.some(({ schedule }) => schedule.after)) return scheduled;
  const links = linksByName(known().map(linkOf));
  return scheduled.filter((policy) => {
    const { name } = policy;
    const fault = chainFault(linkOf(policy), links);
    if (!fault) return true;
    const failure = formatChainFault(name, fault);
    if (agenda.get(name)?.failure !== failure)
      log.warn({ policy: name }, `the policy ${name} starts no runs: ${failure}`);
    agenda.set(name, { hash: '', dueAt: Number.NEGATIVE_INFINITY, failure });
    return false;
  });
}

function forgetOthers(agenda: Agenda, policies: readonly Policy[]): void {
  if (agenda.size <= policies.length) return;
  const names = new Set(policies.map(({ name }) => name));
  for (const name of agenda.keys()) if (!names.has(name)) agenda.delete(name);
}

/** Fires one policy; never rejects. The same error is logged once, not at every tick. */
async function fireDue(
  deps: SchedulerDeps,
  agenda: Agenda,
  policy: ScheduledPolicy,
  state: PolicyState | undefined,
  now: number,
): Promise<void> {
  const { name, hash } = policy;
  try {
    agenda.set(name, { hash, ...(await carryOut(deps, policy, state, now)) });
  } catch (error) {
    const failure = messageOf(error);
    const known = agenda.get(name);
    if (known?.failure !== failure || known.hash !== hash) {
      deps.log.error({ policy: name, err: error }, `the policy ${name} could not be fired: ${failure}`);
    }
    agenda.set(name, { hash, dueAt: Number.NEGATIVE_INFINITY, failure });
  }
}

/**
 * Fires what is due of one policy, records what does not fire, and advances its cursor; returns when
 * something is due next, and which ends were looked at.
 */
async function carryOut(
  deps: SchedulerDeps,
  policy: ScheduledPolicy,
  read: PolicyState = { failures: 0 },
  now: number,
): Promise<{ dueAt: number; endsTo?: number }> {
  const { name, schedule } = policy;
  const state = (read.cursor ?? now) > now ? { ...read, ...(await takeBack(deps, name, now)) } : read;
  const cursorSchedule = timesKey(schedule);
  const start = cursorFor(schedule, state, now);
  const { due, ...looked } = await dueOf(deps, policy, { ...state, cursor: start, now });
  const owed = state.owedFrom ?? due.decisions.find((one) => one.is === 'fire' && one.inTurn)?.scheduledFor;
  const recorded: ScheduledTime[] = [];
  let cursor = start ?? due.cursor;
  let pending: ScheduledTime[] = [];
  const settle = async (to: number, owedFrom: number | undefined) => {
    const fresh = await deps.records.ledger.record(name, pending, { to, schedule: cursorSchedule, owedFrom });
    if (fresh > 0) recorded.push(...pending);
    pending = [];
  };
  for (const decision of due.decisions) {
    if (decision.is !== 'fire') pending.push(recordOf(decision, now));
    else {
      const heldBack = await heldBackUntil(deps, policy, decision, now);
      if (heldBack !== undefined) {
        await settle(cursor, owed);
        logSkipped(deps.log, name, recorded);
        return { ...looked, dueAt: heldBack };
      }
      if (pending.length > 0) await settle(cursor, owed);
      await deps.fire(policy, firingOf(decision));
      await settle(decision.scheduledFor, owed);
    }
    cursor = decision.scheduledFor;
  }
  // Ends that start nothing have no decision.
  cursor = Math.max(cursor, due.cursor);
  const more = due.nextDueAt === now;
  const owedFrom = more ? owed : undefined;
  const known =
    state.cursor === cursor && state.cursorSchedule === cursorSchedule && state.owedFrom === owedFrom;
  if (pending.length > 0 || !known) await settle(cursor, owedFrom);
  logSkipped(deps.log, name, recorded);
  return { ...looked, dueAt: more ? now + 1 : (due.nextDueAt ?? Number.POSITIVE_INFINITY) };
}

/** The cursor is ahead of the clock, which went back, unless two daemons only differ a little. */
async function takeBack(
  { records, log }: SchedulerDeps,
  policy: string,
  now: number,
): Promise<Pick<PolicyState, 'cursor'>> {
  const { cursor, removed } = await records.ledger.takeBack(policy, now);
  if (cursor <= now)
    log.warn(
      { policy, removed },
      `the clock went back: what was recorded of ${policy} ahead of now is taken back, and the policy fires again`,
    );
  return { cursor };
}

const firingOf = ({
  trigger,
  scheduledFor,
  afterRun,
}: Extract<Decision, { is: 'fire' }>): ScheduledFiring => ({
  trigger,
  scheduledFor,
  ...(afterRun === undefined ? {} : { afterRun }),
});

/** After a long downtime, this many ends of a predecessor's runs are decided together. */
const MAX_ENDS = 500;

async function dueOf(
  { records }: SchedulerDeps,
  { name, schedule }: ScheduledPolicy,
  state: ScheduleState,
): Promise<{ due: Due; endsTo?: number }> {
  if (!isChained(schedule)) return { due: whatIsDue(name, schedule, state) };
  const from = chainStart(state.cursor, state.now);
  const ends = await records.ends.between(schedule.after.policy, from, Number.POSITIVE_INFINITY, MAX_ENDS);
  const isAll = ends.length < MAX_ENDS;
  const endsTo = ends.at(-1)?.at ?? from;
  const due = whatFollows(name, schedule, await predecessorEnds(records, ends), { ...state, isAll, endsTo });
  return { due, endsTo };
}

const CHANGED_JUST_NOW = 'it may do what cannot be undone, and its file was changed less than a minute ago';

/** When to check a firing again that must wait; nothing when it may fire. */
async function heldBackUntil(
  deps: SchedulerDeps,
  policy: Policy,
  { inTurn }: { inTurn?: true },
  now: number,
): Promise<number | undefined> {
  const until = deps.waitsUntil?.(policy) ?? now;
  if (until > now) {
    deps.log.info({ policy: policy.name }, `a run of ${policy.name} waits: ${CHANGED_JUST_NOW}`);
    return until;
  }
  if (inTurn && (await hasActiveRun(deps, policy))) return now + IN_TURN_INTERVAL_MS;
  // It may have been edited or removed since the tick began.
  return isActive(deps, policy) ? undefined : now;
}

const isActive = ({ policies }: SchedulerDeps, { name, hash }: Policy): boolean =>
  policies().some((one) => one.name === name && one.hash === hash);

/** Catch-ups of `mode: all` run one after the other, and so do the firings after them. */
async function hasActiveRun({ records }: SchedulerDeps, { name, account }: Policy): Promise<boolean> {
  return (await records.runs.active(account, { policy: name })).length > 0;
}

/** When the run of a firing was due, with jitter. */
export function dueAtOf({ name, schedule }: Policy, { trigger, scheduledFor }: ScheduledFiring): number {
  if (schedule === undefined) return scheduledFor;
  return trigger === 'after'
    ? chainedDueAt(name, schedule, scheduledFor)
    : dueAt(name, schedule, scheduledFor);
}
