/**
 * The data types of a run and its targets: no I/O and no clock. Times are milliseconds since 1970.
 *
 * Each is declared once, as a schema. Its type is inferred from the schema, and records are parsed with it
 * when they are read.
 */
import { z } from 'zod';
import type { Exclusive } from '../defined.ts';
import type { Reason } from './reasons.ts';
import { RecordingCounts } from './recordings.ts';
import { Remark } from './remarks.ts';
import { Approval, Rollout } from './rollout.ts';
import { SentRequest } from './sent-request.ts';

const { exactOptional: optional } = z;
const yes = z.literal(true);
const text = z.string();
const number = z.number();
/** Any text: a record may have a reason of a job that no longer exists. */
export const reason = z.custom<Reason>((value) => typeof value === 'string');
const timeBounds = z.object({ earliest: number, latest: number });

export const runStatuses = [
  'queued',
  'planning',
  'awaiting-approval',
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

export const triggers = ['schedule', 'manual', 'catch-up', 'backfill', 'retry', 'after'] as const;
export type Trigger = (typeof triggers)[number];

export const outcomes = ['succeeded', 'failed', 'skipped', 'cancelled'] as const;
export type Outcome = (typeof outcomes)[number];

/** Why nothing new of a run is started any more. */
export const endingReasons = [
  'cancelled',
  'safety-limit',
  'not-approved',
  'gate-closed',
  'window-over',
] as const;
export type EndingReason = (typeof endingReasons)[number];

export const Counts = z.object({
  planned: number,
  succeeded: number,
  failed: number,
  skipped: number,
  cancelled: number,
  /** Of the failed ones, those in which a check found something. Written when the run ends. */
  found: optional(number),
});
export type Counts = z.output<typeof Counts>;

/** Requests that were sent, by operation. */
export type Spent = Readonly<Record<string, number>>;

/** Why a run is held: it is not known what it did after `since`. */
export const Held = z.object({
  /** When that was detected. */
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

/** Something a person should know about a target in addition to how it ended. */
export const Finding = z.object({
  severity: z.enum(['error', 'warning', 'info']),
  /** The subject, in a word or two: a site's address, a plugin. */
  about: text,
  message: text,
  /** The service's task that it was found in. */
  task: optional(text),
  /** Since when it has been so, as the job knows it, in milliseconds since 1970. */
  since: optional(number),
  /** The key of what happened: it is resolved not when a run no longer sees it, but when a finding settles the key. */
  event: optional(text),
  /** The keys of earlier events that this one makes good. */
  settles: optional(z.array(text)),
});
export type Finding = z.output<typeof Finding>;

/** A finding that a run was the first to see, or that it found resolved. */
export const FindingChange = Finding.omit({ task: true, settles: true }).extend({
  target: text,
  label: text,
  /** When the first run began that saw it. */
  since: number,
});
export type FindingChange = z.output<typeof FindingChange>;

/** The findings of a run, compared with those of the policy's earlier runs. */
export const FindingChanges = z.object({
  /** Findings that the run saw, the new ones included. */
  open: number,
  new: number,
  resolved: number,
  /** The first ten of each. */
  firstNew: optional(z.array(FindingChange)),
  firstResolved: optional(z.array(FindingChange)),
  /** How many are resolved of those that have `told`, by it as JSON. */
  resolvedOf: optional(z.record(text, number)),
});
export type FindingChanges = z.output<typeof FindingChanges>;

/** An id that was looked up by a name when the run was planned. */
export const LookedUp = z.object({
  /** Where the name is in the policy: `['select', 'filters', 'tags', 'in', 0]`. */
  path: z.array(z.union([text, number])),
  kind: text,
  name: text,
  id: text,
});
export type LookedUp = z.output<typeof LookedUp>;

/** That a run is predicted to miss its deadline, or has missed it; recorded once. */
export const Late = z.object({
  at: number,
  is: z.enum(['predicted', 'missed']),
  /** When the run was expected to end. */
  expected: optional(number),
});
export type Late = z.output<typeof Late>;

/**
 * One firing of a policy. `policyJson` is the policy as it was when the run was created: later edits do not
 * change the run.
 */
export const Run = z.object({
  id: text,
  policy: text,
  job: text,
  account: text,
  /** The service that it belongs to: see `service-address.ts`. */
  address: optional(text),
  status: z.enum(runStatuses),
  trigger: z.enum(triggers),
  scheduledFor: number,
  createdAt: number,
  startedAt: optional(number),
  finishedAt: optional(number),
  /** The time at which the run has to be over (`timeout.run`). */
  deadline: optional(number),
  /** When it has to be done (`deadline` of the policy). */
  dueBy: optional(number),
  late: optional(Late),
  /** After this time nothing new of it begins (`window.until` of the policy). */
  windowEndsAt: optional(number),
  /** One sentence: why the run is blocked, was skipped, was stopped or failed. */
  detail: optional(text),
  /**
   * Set when Redis was restored to an older state in which the run had not ended. The run continues when a
   * person releases it.
   */
  held: optional(Held),
  /** Why nothing new is released any more, while work in flight continues to its end. */
  ending: optional(z.enum(endingReasons)),
  /** Whether the tasks that the run has started in the service are to be cancelled with it. */
  cancelTasks: optional(yes),
  /** Set once the whole plan is stored. Before that, no target is released, and interrupted planning starts over. */
  planComplete: optional(yes),
  /** Its targets start evenly over a window, in an order that is the same in every run. */
  spread: optional(Spread),
  requests: number,
  /** The same by operation: `{ listSites: 10, syncSite: 1000 }`. */
  requestsByOperation: optional(z.record(text, number)),
  /** The requests that its plan cost, and the number of targets to work on. */
  plan: optional(z.object({ requests: number, targets: number })),
  /** Its plan stores what it rests on: time passes before it is carried out, and then it is looked at again. */
  keepsFacts: optional(yes),
  /** The hash of the saved plan that it applies. */
  planHash: optional(text),
  /** When its plan was made, by our clock and the service's: the plan can be made again as of that time. */
  decidedAt: optional(z.object({ at: number, serviceAt: number })),
  counts: Counts,
  /** Set when the run ends, if it or an earlier run of the policy had findings. */
  findings: optional(FindingChanges),
  /** What planning found wrong with the run as a whole. */
  remarks: optional(z.array(Remark)),
  /** What it writes to the sites (`record:`), once there is something. */
  recordings: optional(RecordingCounts),
  /** Its batches, and how far they are. Missing for a policy without `rollout`, and before the plan is stored. */
  rollout: optional(Rollout),
  /** The approvals that it waited or waits for, oldest first. Missing when it needs none. */
  approvals: optional(z.array(Approval)),
  /** Counts the changes of `rollout` and `approvals`. */
  step: optional(number),
  retryOf: optional(text),
  /** The principal that requested it. Missing: Caretaker itself, by a schedule. */
  startedBy: optional(z.object({ kind: text, name: text })),
  /** The run whose end started it (`schedule.after`). */
  afterRun: optional(text),
  /** A person started it although its targets may be frozen. */
  ignoresFreezes: optional(yes),
  policyJson: text,
  policyHash: text,
  /** The ids that the names in the policy stand for. The process that plans first decides them for the whole run. */
  names: optional(z.array(LookedUp)),
});
export type Run = z.output<typeof Run>;

/** The state of a target. Only `ended` has an outcome, and it is final. */
export const targetStates = ['pending', 'acting', 'following', 'waiting', 'ended'] as const;
export type TargetState = (typeof targetStates)[number];

/**
 * The record that is written before a request with an effect is sent. While it has no result, the effect may
 * have happened.
 */
export const Intent = z.object({
  operation: text,
  at: number,
  /** `at` by the service's clock, if it was known then. Clocks may be changed before the times are compared. */
  serviceAt: optional(timeBounds),
  /** What the job needs to reconcile the effect. */
  note: optional(text),
  /** Which of the planned requests of its target it is, from 0, where these are the only ones that may be sent. */
  planned: optional(number),
  /** The service reported success, but its answer could not be read. The request is never sent again. */
  confirmed: optional(yes),
  /** The HTTP status that was received, which does not show whether the effect happened. */
  answered: optional(number),
});
export type Intent = z.output<typeof Intent>;

/**
 * Work in the service that is followed on behalf of a target. The other fields are those of its kind
 * (`job/watch`).
 */
export const Watch = z.looseObject({
  /** The name of the watch kind. */
  kind: text,
  /** The work started at this time or later, in milliseconds since 1970. */
  since: number,
  /** `since` by the service's clock, if it was known when following started. */
  serviceSince: optional(timeBounds),
  /** The work was started by someone else. */
  adopted: optional(yes),
  /**
   * When following stops, at the latest; the work then counts as failed with `timeout`. The target's own time
   * limit applies as well.
   */
  until: optional(number),
  /** What messages call it: `The task 42`. Set by the engine when it begins to follow. */
  label: optional(text),
});
export type Watch = z.output<typeof Watch>;

/** The end of a step of the policy (`steps`) that was done. */
export const StepEnd = z.object({
  reason,
  detail: optional(text),
  at: number,
  /** The service's task that its work became. */
  taskId: optional(text),
  /** Until the target ends; then they are among the findings of the target. */
  findings: optional(z.array(Finding)),
});
export type StepEnd = z.output<typeof StepEnd>;

/**
 * What every target has, in any state. `fence` grows with each dispatch, claim and intent: a process that has
 * an older one cannot write.
 */
const target = {
  id: text,
  label: text,
  /** The site it changes. Targets of different runs never change one site at the same time. */
  site: optional(text),
  /** The site on which its change is recorded (`record:`). */
  recordSite: optional(text),
  /** Of each entry of `notify` with a route, in order: the receiver that is notified of it. Missing: the defaults. */
  told: optional(z.array(text)),
  /** Its batch, from 1, where the policy has a `rollout` or the run needed an approval. */
  batch: optional(number),
  /** The batches of the policy whose condition holds for it, from 0. Dropped when it ends. */
  inBatches: optional(z.array(number)),
  /** A request of the run had an effect on it. */
  changed: optional(yes),
  /** Those of its planned requests that had their effect, by their positions. */
  sent: optional(z.array(number)),
  fence: number,
  attempts: number,
  /** How often it waited without an effect (conflict, outage, budget); the next wait is longer. */
  waits: number,
  /** When it was dispatched for the first time. */
  startedAt: optional(number),
  /** The service's task that its work became. */
  taskId: optional(text),
  /** The steps of the policy that are done, in order. Missing while there is none. */
  steps: optional(z.array(StepEnd)),
  /** The only step of the policy that it is a target of. */
  ofStep: optional(number),
  /** The first and the last requests that were sent for it alone, in order. Missing while there is none. */
  requests: optional(z.array(SentRequest)),
  /** How many more were sent between them. */
  moreRequests: optional(number),
};

/** What a target keeps on its way, from the first step of its job to the last. */
const progress = {
  /** When the target's time limit ends (`timeout.target`). */
  deadline: optional(number),
  /** At least one of its steps is done. */
  partlyDone: optional(yes),
  /** What the job keeps from step to step: JSON as text, so that it is read exactly as it was written. */
  jobState: optional(text),
  /** What the target is waiting for, or the last error. */
  detail: optional(text),
};

/** The fields of a target that a worker acts on, or that waits for its next step. */
const betweenSteps = {
  ...target,
  ...progress,
  intent: optional(Intent),
  /** The followed work, while its task is being cancelled. */
  watch: optional(Watch),
  lostAt: optional(number),
  continues: optional(yes),
  endsStep: optional(yes),
  taskCancel: optional(z.enum(['due', 'requested'])),
  /** How the followed work ended, for the step that comes after it. */
  ended: optional(z.object({ is: z.enum(['done', 'skipped', 'failed']), reason, detail: optional(text) })),
  reason: optional(reason),
};

/** The target was never dispatched. */
const Pending = z.object({ ...target, jobState: progress.jobState, state: z.literal('pending') });

/** The target was dispatched: a worker has claimed it, or soon will. */
const Acting = z.object({
  ...betweenSteps,
  state: z.literal('acting'),
  /** Whether a worker has claimed it since it was dispatched. */
  claimed: optional(yes),
});

/** The target is due again at a known time: after a delay, or for its next step. */
const Waiting = z.object({ ...betweenSteps, state: z.literal('waiting') });

/** Its work runs in the service. */
const Following = z.object({
  ...target,
  ...progress,
  state: z.literal('following'),
  watch: Watch,
  /** When a poll found that the service no longer knows the work. Removed when the work is found again. */
  lostAt: optional(number),
  /** The followed work is one step of several: its end does not end the target. */
  continues: optional(yes),
  /** The end of the followed work is the end of a step of the policy, and not of its last one. */
  endsStep: optional(yes),
  /** The cancellation of the followed task was requested, because the run was cancelled. */
  taskCancel: optional(z.literal('requested')),
});

/**
 * The target has its outcome. Fields that are needed only before the end are dropped, because the record is
 * kept for months.
 */
const Ended = z.object({
  ...target,
  state: z.literal('ended'),
  outcome: z.enum(outcomes),
  reason,
  finishedAt: number,
  detail: optional(text),
  findings: optional(z.array(Finding)),
});

/** One thing that a run works on, by its state. `ended` is final. */
export const Target = z.discriminatedUnion('state', [Pending, Acting, Waiting, Following, Ended]);
export type Target = Exclusive<z.output<typeof Target>>;
/** A target in one state, with the fields of that state alone. */
export type TargetIn<State extends TargetState> = Extract<z.output<typeof Target>, { state: State }>;
