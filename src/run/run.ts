/**
 * What a run and its targets are, as values: no I/O and no clock. Times are milliseconds since 1970.
 *
 * Each is described once, as a schema: its type is made of it, and records are parsed with it when they are
 * read.
 */
import { z } from 'zod';
import type { Reason } from './reasons.ts';

const { exactOptional: optional } = z;
const yes = z.literal(true);
const text = z.string();
const number = z.number();
/** Any text: a record may have a reason of a job that is no longer there. */
export const reason = z.custom<Reason>((value) => typeof value === 'string');
const timeBounds = z.object({ earliest: number, latest: number });

export const runStatuses = [
  'queued',
  'planning',
  'running',
  'blocked',
  'succeeded',
  'partial',
  'failed',
  'cancelled',
  'skipped',
  'stopped',
] as const;
export type RunStatus = (typeof runStatuses)[number];

export const triggers = ['schedule', 'manual', 'catch-up', 'backfill', 'retry'] as const;
export type Trigger = (typeof triggers)[number];

export const outcomes = ['succeeded', 'failed', 'skipped', 'cancelled'] as const;
export type Outcome = (typeof outcomes)[number];

/** Why nothing new of a run is begun any more. */
export const endingReasons = ['cancelled', 'safety-limit'] as const;
export type EndingReason = (typeof endingReasons)[number];

export const Counts = z.object({
  planned: number,
  succeeded: number,
  failed: number,
  skipped: number,
  cancelled: number,
});
export type Counts = z.output<typeof Counts>;

/** Requests that were sent, by operation. */
export type Spent = Readonly<Record<string, number>>;

/** Why a run is held: what it did after `since` is not known. */
export const Held = z.object({
  /** When that was noticed. */
  at: number,
  /** When the state that Redis holds was written last. */
  since: number,
});
export type Held = z.output<typeof Held>;

/** The window over which a run starts its targets. */
export const Spread = z.object({
  from: number,
  ms: number,
  /** How many targets share it. */
  targets: number,
});
export type Spread = z.output<typeof Spread>;

/**
 * One firing of a policy. `policyJson` is the policy as it was when the run began: edits do not change a run.
 */
export const Run = z.object({
  id: text,
  policy: text,
  job: text,
  account: text,
  status: z.enum(runStatuses),
  trigger: z.enum(triggers),
  scheduledFor: number,
  createdAt: number,
  startedAt: optional(number),
  finishedAt: optional(number),
  /** The latest moment at which the run may still be at work (`timeout.run`). */
  deadline: optional(number),
  /** One sentence: why the run is blocked, was skipped, was stopped or failed. */
  detail: optional(text),
  /**
   * Redis was put back to an older state, in which the run had not ended: it goes on when a person releases
   * it.
   */
  held: optional(Held),
  /** Why nothing new is released any more, while what is in flight comes to its end. */
  ending: optional(z.enum(endingReasons)),
  /** Whether the tasks that the run has started in the service are to be cancelled with it. */
  cancelTasks: optional(yes),
  /** Set once the whole plan is stored: before that, nothing is acted upon and planning starts over. */
  planComplete: optional(yes),
  /** Its targets start evenly over a window, each at its place in an order that is the same in every run. */
  spread: optional(Spread),
  requests: number,
  /** The same by operation; `{ listSites: 10, syncSite: 1000 }`. */
  requestsByOperation: optional(z.record(text, number)),
  /** What its plan cost, and how many targets it left to be worked on. */
  plan: optional(z.object({ requests: number, targets: number })),
  counts: Counts,
  retryOf: optional(text),
  policyJson: text,
  policyHash: text,
});
export type Run = z.output<typeof Run>;

/** Where a target is on its way. Only `ended` has an outcome, and nothing leaves it. */
export const targetStates = ['pending', 'acting', 'following', 'waiting', 'ended'] as const;
export type TargetState = (typeof targetStates)[number];

/**
 * The note written before an effect is asked for; while it stands without a result, the effect may have
 * happened.
 */
export const Intent = z.object({
  operation: text,
  at: number,
  /**
   * `at` by the service's clock, as far as that was known then: clocks may be set before anybody compares.
   */
  serviceAt: optional(timeBounds),
  /** What the job wants to know again when it has to find out what became of it. */
  note: optional(text),
  /** The service reported that it was done, and what it answered could not be read: never asked for again. */
  confirmed: optional(yes),
});
export type Intent = z.output<typeof Intent>;

/**
 * Work in the service that is followed on behalf of a target. The other fields are those of its kind
 * (`job/watch`).
 */
export const Watch = z.looseObject({
  /** The name of the watch kind. */
  kind: text,
  /** No later than this work can have begun, in milliseconds since 1970. */
  since: number,
  /** `since` by the service's clock, as far as that was known when the work was first followed. */
  serviceSince: optional(timeBounds),
  /** Somebody else had started it. */
  adopted: optional(yes),
  /**
   * So long it is followed at most; then it counts as failed with `timeout`. The target's own limit comes
   * besides.
   */
  until: optional(number),
  /** What messages call it: `The task 42`. Set by the engine when it begins to follow. */
  label: optional(text),
});
export type Watch = z.output<typeof Watch>;

/** Something a person should know about a target besides how it ended. */
export const Finding = z.object({
  severity: z.enum(['error', 'warning', 'info']),
  /** What it is about, in a word or two: a site's address, a plugin. */
  about: text,
  message: text,
  /** The service's task that it was found in. */
  task: optional(text),
});
export type Finding = z.output<typeof Finding>;

/**
 * What every target has, in whichever state. `step` grows each time it is handed out, and fences off whoever
 * had it before.
 */
const target = {
  id: text,
  label: text,
  /** The site it changes: targets of different runs are never at work on one site at once. */
  site: optional(text),
  fence: number,
  attempts: number,
  /** Times an effect-free wait (conflict, outage, budget) has been taken; sizes the next one. */
  waits: number,
  /** When it was handed out first. */
  startedAt: optional(number),
  /** The service's task that its work became. */
  taskId: optional(text),
};

/** What a target keeps on its way, from the first step of its job to the last. */
const progress = {
  /** The latest time at which the target may still be at work (`timeout.target`). */
  deadline: optional(number),
  /** Some of its steps have been done. */
  partlyDone: optional(yes),
  /**
   * What the job keeps from step to step: JSON, as text, so that nobody in between reads it otherwise than it
   * was written.
   */
  jobState: optional(text),
  /** What it is waiting for, or what went wrong the last time. */
  detail: optional(text),
};

/**
 * What a target has between two steps of its job, be it that a worker has it or that it waits for its turn.
 */
const betweenSteps = {
  ...target,
  ...progress,
  intent: optional(Intent),
  /** Followed work whose task is to be cancelled. */
  watch: optional(Watch),
  lostAt: optional(number),
  continues: optional(yes),
  taskCancel: optional(z.enum(['due', 'requested'])),
  /** How the followed work ended, until the step that comes after it has been taken. */
  ended: optional(z.object({ is: z.enum(['done', 'skipped', 'failed']), reason, detail: optional(text) })),
  reason: optional(reason),
};

/** Nobody has begun on it. */
const Pending = z.object({ ...target, jobState: progress.jobState, state: z.literal('pending') });

/** It was handed out: a worker has it, or soon will. */
const Acting = z.object({
  ...betweenSteps,
  state: z.literal('acting'),
  /** Whether a worker has begun on it since it was handed out. */
  claimed: optional(yes),
});

/** It comes up again at a time that is known: after a delay, or for its next step. */
const Waiting = z.object({ ...betweenSteps, state: z.literal('waiting') });

/** Its work runs in the service. */
const Following = z.object({
  ...target,
  ...progress,
  state: z.literal('following'),
  watch: Watch,
  /**
   * When the service was found to know nothing of the followed work; gone again when it is found after all.
   */
  lostAt: optional(number),
  /** The followed work is one step of several: its end is not the target's. */
  continues: optional(yes),
  /** The followed task has been asked to end, since the run was cancelled. */
  taskCancel: optional(z.literal('requested')),
});

/** It has its outcome. What was only needed on the way is gone: the record is kept for months. */
const Ended = z.object({
  ...target,
  state: z.literal('ended'),
  outcome: z.enum(outcomes),
  reason,
  finishedAt: number,
  detail: optional(text),
  findings: optional(z.array(Finding)),
});

/** One thing a run works on, by the state that it is in. Nothing leaves `ended`. */
export const Target = z.discriminatedUnion('state', [Pending, Acting, Waiting, Following, Ended]);
export type Target = Exclusive<z.output<typeof Target>>;
/** A target in one state, with the fields of that state alone. */
export type TargetIn<State extends TargetState> = Extract<z.output<typeof Target>, { state: State }>;

export const isIn = <State extends TargetState>(
  target: Target,
  state: State,
): target is Target & TargetIn<State> => target.state === state;

/**
 * A union whose fields may all be read on any member: a member that does not have a field gives nothing, and
 * takes nothing.
 */
type Exclusive<Union, Field extends PropertyKey = FieldOf<Union>> = Union extends unknown
  ? Union & { [Other in Exclude<Field, keyof Union>]?: undefined }
  : never;
type FieldOf<Union> = Union extends unknown ? keyof Union : never;
