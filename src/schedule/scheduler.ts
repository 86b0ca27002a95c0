/**
 * Fires policies when they are due, with any number of daemons on one Redis.
 *
 * Each tick looks up the moments between a policy's cursor in Redis and now. The cursor moves only after the firing was
 * made, so a daemon that dies loses nothing; and since a run's id is made of policy and moment, the daemon that takes
 * over makes no second run of it.
 */
import type { Clock } from '../clock.ts';
import { isoTime } from '../clock.ts';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Policy, Schedule } from '../policy/policy.ts';
import type { PolicyState } from '../records/policy-store.ts';
import type { Records } from '../records/records.ts';
import { startCronTick, type Tick } from './cron-tick.ts';
import { cursorFor, type Decision, nameOfMoments, type SkipReason, whatIsDue } from './due.ts';

export interface ScheduledFiring {
  trigger: 'schedule' | 'catch-up';
  /** The nominal moment, in milliseconds since 1970. */
  scheduledFor: number;
}

export interface SchedulerParts {
  /** The policies in force; asked at every tick. */
  policies: () => readonly Policy[];
  /** Makes the run of a firing; of one that was made already it makes none. The engine's `fire`. */
  fire: (policy: Policy, firing: ScheduledFiring) => Promise<unknown>;
  records: Pick<Records, 'policies' | 'locks'>;
  clock: Pick<Clock, 'now'>;
  log: Log;
}

export interface SchedulerOptions extends SchedulerParts {
  /** What calls for an answer again and again. Default node-cron, every 5 s, answered by one of all daemons. */
  tick?: (answer: () => Promise<void>) => Tick;
}

export interface Scheduler {
  /** When a tick was last heard, in this process; the start before the first one. */
  beatAt(): number;
  /** Ends the firing; resolves when the tick at work is done. */
  stop(): Promise<void>;
}

/**
 * What this process knows of each policy by its name: before `dueAt` there is nothing to look up. Only a saving; a
 * tick with an empty one does the same.
 */
export type Agenda = Map<string, { hash: string; dueAt: number; trouble?: string }>;

type ScheduledPolicy = Policy & { schedule: Schedule };

/** Policies that fire at the same time: each waits for Redis a few times. */
const LANES = 20;

/** Starts firing the policies; one call a process. */
export function startScheduler({ tick, ...parts }: SchedulerOptions): Scheduler {
  const { records, clock, log } = parts;
  const agenda: Agenda = new Map();
  let beatAt = clock.now();
  const onBeat = () => {
    beatAt = clock.now();
  };
  const answer = async () => {
    await tickOnce(parts, agenda);
    onBeat();
  };
  const ticking = tick ? tick(answer) : startCronTick({ answer, onBeat, locks: records.locks, log });
  return { beatAt: () => beatAt, stop: () => ticking.stop() };
}

/**
 * Answers one tick: fires everything that is due and was not fired yet, by whichever daemon.
 *
 * What goes wrong with one policy is logged and tried again at the next tick; the others fire. Costs nothing while
 * nothing is due, else one read for all policies concerned and a few commands for each firing.
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
    for (const policy of waiting) await tend(parts, agenda, policy, states.get(policy.name), now);
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
async function tend(
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

/** Fires what is due of one policy and moves its cursor on; gives when to look at it again. */
async function carryOut(
  parts: SchedulerParts,
  policy: ScheduledPolicy,
  state: PolicyState | undefined,
  now: number,
): Promise<number> {
  const { name, schedule } = policy;
  const moments = nameOfMoments(schedule);
  const moveCursor = (to: number) => parts.records.policies.moveCursor(name, to, moments);
  const due = whatIsDue(name, schedule, {
    cursor: cursorFor(schedule, state ?? {}, now),
    now,
    pausedUntil: state?.pause && (state.pause.until ?? Number.POSITIVE_INFINITY),
  });
  for (const decision of due.decisions) {
    if (decision.is === 'skip') continue;
    const { moment, trigger } = decision;
    await parts.fire(policy, { trigger, scheduledFor: moment });
    await moveCursor(moment);
  }
  if (state?.cursor !== due.cursor || state.moments !== moments) await moveCursor(due.cursor);
  tellSkipped(parts.log, name, due.decisions, state);
  return due.nextDueAt ?? Number.POSITIVE_INFINITY;
}

const skipped: Record<SkipReason, string> = {
  paused: 'did not fire: the policy is paused',
  blackout: 'did not fire: it is a day of its blackout',
  missed: 'did not fire: it was missed by more than its catchup',
  merged: 'did not fire by itself: one catch-up run makes up for all that was missed',
};

/** One line for each reason, however many moments there were. */
function tellSkipped(
  log: Log,
  policy: string,
  decisions: readonly Decision[],
  state: PolicyState | undefined,
): void {
  for (const why of Object.keys(skipped) as SkipReason[]) {
    const moments = decisions.filter((one) => one.is === 'skip' && one.why === why);
    const last = moments.at(-1);
    if (!last) continue;
    const pause = why === 'paused' && state?.pause ? { by: state.pause.by, reason: state.pause.reason } : {};
    const facts = { policy, moments: moments.length, last: isoTime(last.moment), ...pause };
    log[why === 'missed' ? 'warn' : 'info'](facts, skipped[why]);
  }
}
