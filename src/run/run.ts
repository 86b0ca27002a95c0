/** What a run and its targets are, as values: no I/O and no clock. Moments are milliseconds since 1970. */
import type { TimeBounds } from '../clock.ts';
import type { Reason } from './reasons.ts';

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

export interface Counts {
  planned: number;
  succeeded: number;
  failed: number;
  skipped: number;
  cancelled: number;
}

/** Requests that were sent, by operation. */
export type Spent = Readonly<Record<string, number>>;

/** One firing of a policy. `policyJson` is the policy as it was when the run began: edits do not change a run. */
export interface Run {
  id: string;
  policy: string;
  job: string;
  account: string;
  status: RunStatus;
  trigger: Trigger;
  scheduledFor: number;
  createdAt: number;
  startedAt?: number;
  finishedAt?: number;
  /** The latest moment at which the run may still be at work (`timeout.run`). */
  deadline?: number;
  /** One sentence: why the run is blocked, was skipped, was stopped or failed. */
  detail?: string;
  /** Redis was put back to an older state, in which the run had not ended: it goes on when a person releases it. */
  held?: Held;
  /** Why nothing new is released any more, while what is in flight comes to its end. */
  ending?: 'cancelled' | 'safety-limit';
  /** Whether the tasks that the run has started in the service are to be cancelled with it. */
  cancelTasks?: true;
  /** Set once the whole plan is stored: before that, nothing is acted upon and planning starts over. */
  planComplete?: true;
  /** Its targets start evenly over a window, each at its place in an order that is the same in every run. */
  spread?: Spread;
  requests: number;
  /** The same by operation; `{ listSites: 10, syncSite: 1000 }`. */
  requestsByOperation?: Spent;
  /** What its plan cost, and how many targets it left to be worked on. */
  plan?: { requests: number; targets: number };
  counts: Counts;
  retryOf?: string;
  policyJson: string;
  policyHash: string;
}

/** Why a run is held: what it did after `since` is not known. */
export interface Held {
  /** When that was noticed. */
  at: number;
  /** When the state that Redis holds was written last. */
  since: number;
}

/** The window over which a run starts its targets. */
export interface Spread {
  from: number;
  ms: number;
  /** How many targets share it. */
  targets: number;
}

/** Where a target is on its way. Only `ended` has an outcome, and nothing leaves it. */
export type TargetState = 'pending' | 'acting' | 'following' | 'waiting' | 'ended';

/** The note written before an effect is asked for; while it stands without a result, the effect may have happened. */
export interface Intent {
  operation: string;
  at: number;
  /** `at` by the service's clock, as far as that was known then: clocks may be set before anybody compares. */
  serviceAt?: TimeBounds;
  /** What the job wants to know again when it has to find out what became of it. */
  note?: string;
  /** The service reported that it was done, and what it answered could not be read: never asked for again. */
  made?: true;
}

/** Work in the service that is followed on behalf of a target. The other fields are those of its kind (`job/watch`). */
export interface Watch {
  /** The name of the watch kind. */
  kind: string;
  /** No later than this work can have begun, in milliseconds since 1970. */
  since: number;
  /** `since` by the service's clock, as far as that was known when the work was first followed. */
  serviceSince?: TimeBounds;
  /** Somebody else had started it. */
  adopted?: true;
  /** So long it is followed at most; then it counts as failed with `timeout`. The target's own limit comes besides. */
  until?: number;
  /** What messages call it: `The task 42`. Set by the engine when it begins to follow. */
  label?: string;
  readonly [fact: string]: unknown;
}

/** Something a person should know about a target besides how it ended. */
export interface Finding {
  severity: 'error' | 'warning' | 'info';
  /** What it is about, in a word or two: a site's address, a plugin. */
  about: string;
  says: string;
  /** The service's task that it was found in. */
  task?: string;
}

/** One thing a run works on. `step` grows each time the target is handed out, and fences off whoever had it before. */
export interface Target {
  id: string;
  label: string;
  /** The site it changes: targets of different runs are never at work on one site at once. */
  site?: string;
  state: TargetState;
  step: number;
  attempts: number;
  /** Whether a worker has begun on it since it was handed out. */
  claimed?: true;
  /** Times an effect-free wait (conflict, outage, budget) has been taken; sizes the next one. */
  waits: number;
  startedAt?: number;
  finishedAt?: number;
  /** The latest moment at which the target may still be at work (`timeout.target`). */
  deadline?: number;
  intent?: Intent;
  watch?: Watch;
  /** When the service was found to know nothing of the followed work; gone again when it is found after all. */
  lostAt?: number;
  /** The followed work is one step of several: its end is not the target's. */
  goesOn?: true;
  /** Some of its steps have been done. */
  begun?: true;
  /** The followed task is to be cancelled with the run, or has been asked to end. */
  callOff?: 'due' | 'asked';
  /** How the followed work ended, until the step that comes after it has been taken. */
  ended?: { is: 'done' | 'skipped' | 'failed'; reason: Reason; detail?: string };
  /** What the job keeps from step to step: JSON, as text, so that nobody in between reads it otherwise than it was written. */
  memo?: string;
  findings?: readonly Finding[];
  outcome?: Outcome;
  reason?: Reason;
  detail?: string;
  taskId?: string;
}
