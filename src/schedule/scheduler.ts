/**
 * Fires policies when they are due, with any number of daemons on one Redis.
 *
 * Each tick looks up the scheduled times between a policy's cursor in Redis and now. The cursor moves only
 * after the firing was made, so a daemon that dies loses nothing; and since a run's id is made of policy and
 * scheduled time, the daemon that takes over makes no second run of it.
 */
import type { Clock } from '../clock.ts';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Policy, Schedule } from '../policy/policy.ts';
import type { FiringRecord } from '../records/ledger-store.ts';
import type { PolicyState } from '../records/policy-store.ts';
import type { Records } from '../records/records.ts';
import { startCronTick, type Tick } from './cron-tick.ts';
import { cursorFor, formatTimes, whatIsDue } from './due.ts';
import { recordOf, tellLeftOut } from './skipped-times.ts';

export interface ScheduledFiring {
  trigger: 'schedule' | 'catch-up';
  /** The nominal scheduled time, in milliseconds since 1970. */
  scheduledFor: number;
}

export interface SchedulerParts {
  /** The policies that this process fires; asked at every tick. */
  policies: () => readonly Policy[];
  /** Makes the run of a firing; of one that was made already it makes none. The engine's `fire`. */
  fire: (policy: Policy, firing: ScheduledFiring) => Promise<unknown>;
  records: Pick<Records, 'policies' | 'ledger' | 'runs' | 'locks' | 'generation'>;
  clock: Clock;
  log: Log;
}

export interface SchedulerOptions extends SchedulerParts {
  /** A name of these policies: daemons that fire the same share their ticks. Default: all daemons do. */
  group?: () => string;
  /**
   * What calls for an answer again and again. Default node-cron, every 5 s, answered by one of all daemons.
   */
  tick?: (answer: () => Promise<void>) => Tick;
}

export interface Scheduler {
  /** When a tick was last heard, in this process; the start before the first one. */
  beatAt(): number;
  /** Ends the firing; resolves when the tick at work is done. */
  stop(): Promise<void>;
}

/**
 * What this process knows of each policy by its name: before `dueAt` there is nothing to look up. Only a
 * saving; a tick with an empty one does the same.
 */
export type Agenda = Map<string, { hash: string; dueAt: number; trouble?: string }>;

type ScheduledPolicy = Policy & { schedule: Schedule };

/** Policies that fire at the same time: each waits for Redis a few times. */
const LANES = 20;

/** A backlog that is caught up in turn is looked at so often. */
const IN_TURN_MS = 1_000;

/**
 * The process that answers a tick also fires, on time, what falls due within this time: then the next tick
 * comes.
 */
const WATCH_INTERVAL_MS = 6_000;

/** Starts firing the policies; one call a process. */
export function startScheduler({ tick, group, ...parts }: SchedulerOptions): Scheduler {
  const { records, clock, log } = parts;
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
  let era: string | undefined;
  const answer = async () => {
    await endWatch();
    // Of a Redis that was emptied or put back, nothing that is known of its cursors holds.
    if (era !== records.generation.era) agenda.clear();
    era = records.generation.era;
    await tickOnce(parts, agenda);
    onBeat();
    const over = new AbortController();
    watch = { over, ended: keepWatch(parts, agenda, over.signal) };
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

/**
 * Fires, on time, what falls due before this daemon or another answers the next tick; never rejects.
 */
async function keepWatch(parts: SchedulerParts, agenda: Agenda, over: AbortSignal): Promise<void> {
  const { clock, log } = parts;
  let now = clock.now();
  const until = now + WATCH_INTERVAL_MS;
  while (!over.aborted) {
    const next = nextIn(agenda, now);
    if (next >= until) return;
    await clock.sleep(next - clock.now(), over);
    if (over.aborted) return;
    now = Math.max(clock.now(), next);
    await tickOnce(parts, agenda).catch((error: unknown) =>
      log.error({ err: error }, 'the scheduler could not look at what is due'),
    );
  }
}

/** When something is due next, after `now`: what was due before and went wrong is left to the next tick. */
function nextIn(agenda: Agenda, now: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { dueAt } of agenda.values()) if (dueAt > now && dueAt < next) next = dueAt;
  return next;
}

/**
 * Answers one tick: fires everything that is due and was not fired yet, by whichever daemon.
 *
 * What goes wrong with one policy is logged and tried again at the next tick; the others fire. Costs nothing
 * while nothing is due, else one read for all policies concerned and a few commands for each firing.
 */
export async function tickOnce(parts: SchedulerParts, agenda: Agenda = new Map()): Promise<void> {
  const now = parts.clock.now();
  const scheduled = parts.policies().filter(hasSchedule);
  forgetOthers(agenda, scheduled);
  const concerned = scheduled.filter(({ name, hash }) => {
    const known = agenda.get(name);
    return known?.hash !== hash || known.dueAt <= now;
  });
  if (concerned.length === 0) return;
  const states = await parts.records.policies.many(concerned.map(({ name }) => name));
  const waiting = concerned.values();
  const lane = async () => {
    for (const policy of waiting) await fireDue(parts, agenda, policy, states.get(policy.name), now);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

const hasSchedule = (policy: Policy): policy is ScheduledPolicy => policy.schedule !== undefined;

function forgetOthers(agenda: Agenda, policies: readonly Policy[]): void {
  if (agenda.size <= policies.length) return;
  const names = new Set(policies.map(({ name }) => name));
  for (const name of agenda.keys()) if (!names.has(name)) agenda.delete(name);
}

/** Looks after one policy; never rejects. The same trouble is told once, not at every tick. */
async function fireDue(
  parts: SchedulerParts,
  agenda: Agenda,
  policy: ScheduledPolicy,
  state: PolicyState | undefined,
  now: number,
): Promise<void> {
  const { name, hash } = policy;
  try {
    const dueAt = await carryOut(parts, policy, state, now);
    agenda.set(name, { hash, dueAt });
  } catch (error) {
    const trouble = messageOf(error);
    const known = agenda.get(name);
    if (known?.trouble !== trouble || known.hash !== hash) {
      parts.log.error({ policy: name, err: error }, `the policy ${name} could not be fired: ${trouble}`);
    }
    agenda.set(name, { hash, dueAt: Number.NEGATIVE_INFINITY, trouble });
  }
}

/**
 * Fires what is due of one policy, records what is not to fire, and moves its cursor on; gives when to look
 * again.
 */
async function carryOut(
  parts: SchedulerParts,
  policy: ScheduledPolicy,
  state: PolicyState = { failures: 0 },
  now: number,
): Promise<number> {
  const { name, schedule } = policy;
  const moments = formatTimes(schedule);
  const start = cursorFor(schedule, state, now);
  const due = whatIsDue(name, schedule, { ...state, cursor: start, now });
  const owed = state.owedFrom ?? due.decisions.find((one) => one.is === 'fire' && one.inTurn)?.moment;
  const told: FiringRecord[] = [];
  let cursor = start ?? due.cursor;
  let undone: FiringRecord[] = [];
  const settle = async (to: number, owedFrom: number | undefined) => {
    const fresh = await parts.records.ledger.settle(name, undone, { to, moments, owedFrom });
    if (fresh > 0) told.push(...undone);
    undone = [];
  };
  for (const decision of due.decisions) {
    if (decision.is !== 'fire') undone.push(recordOf(decision, now));
    else {
      const heldBack = await heldBackUntil(parts, policy, decision, now);
      if (heldBack !== undefined) {
        await settle(cursor, owed);
        tellLeftOut(parts.log, name, told);
        return heldBack;
      }
      if (undone.length > 0) await settle(cursor, owed);
      await parts.fire(policy, { trigger: decision.trigger, scheduledFor: decision.moment });
      await settle(decision.moment, owed);
    }
    cursor = decision.moment;
  }
  const more = due.nextDueAt === now;
  const owedFrom = more ? owed : undefined;
  const known = state.cursor === cursor && state.moments === moments && state.owedFrom === owedFrom;
  if (undone.length > 0 || !known) await settle(cursor, owedFrom);
  tellLeftOut(parts.log, name, told);
  return more ? now + 1 : (due.nextDueAt ?? Number.POSITIVE_INFINITY);
}

/** When to look again at a firing that is not to be made now; nothing when it is. */
async function heldBackUntil(
  parts: SchedulerParts,
  policy: Policy,
  { inTurn }: { inTurn?: true },
  now: number,
): Promise<number | undefined> {
  if (inTurn && (await isUnderWay(parts, policy))) return now + IN_TURN_MS;
  // It may have been edited or removed since the tick began.
  return isInForce(parts, policy) ? undefined : now;
}

const isInForce = ({ policies }: SchedulerParts, { name, hash }: Policy): boolean =>
  policies().some((one) => one.name === name && one.hash === hash);

/** Catch-ups of `mode: all` go one after the other, and so does whatever comes after them. */
async function isUnderWay({ records }: SchedulerParts, { name, account }: Policy): Promise<boolean> {
  return (await records.runs.active(account)).some((run) => run.policy === name);
}
