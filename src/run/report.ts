/**
 * The public form of a run: the JSON object of `run --json`, `runs show --json` and `GET /api/v1/runs/{id}`.
 * Only this file translates internal names to public ones, times to ISO 8601, and unknown values to `null`.
 */
import { z } from 'zod';
import { isoMinute, isoTime, isoTimeOrNull } from '../clock.ts';
import { defined } from '../defined.ts';
import { RecordingCounts, Unrecorded } from './recordings.ts';
import { Remark } from './remarks.ts';
import { ApprovalReport, approvalReport, RolloutReport, rolloutReport } from './rollout-report.ts';
import {
  Counts,
  endingReasons,
  Finding,
  FindingChange,
  FindingChanges,
  LookedUp,
  outcomes,
  type Run,
  runStatuses,
  type Target,
  targetStates,
  triggers,
} from './run.ts';
import { type RunEnd, runEndOf } from './run-end.ts';
import { isFailure, type SentRequest } from './sent-request.ts';
import { StepReport, stepNamesOf, stepReports } from './steps.ts';

const { exactOptional: optional } = z;
const text = z.string();
const time = z.iso.datetime();

/** A finding that is new or resolved. */
const ChangeReport = FindingChange.extend({
  since: time.describe('When the first run began that saw it.'),
});

const DeadlineReport = z.object({
  at: time,
  missed: z.boolean().describe('Whether the run was not done by then, as far as known.'),
  alerted_at: time.nullable(),
  expected_end: time.nullable().describe('When the run was expected to end, when the alert was made.'),
});

/** A run without its targets: one row of a list. */
export const RunSummary = z
  .object({
    run: text.describe('The id of the run.'),
    policy: text,
    job: text,
    account: text,
    status: z.enum(runStatuses),
    detail: optional(text).describe('One sentence: why it is blocked, was skipped, was stopped or failed.'),
    held: optional(z.object({ at: time, since: time })).describe(
      'Set while it waits because Redis was restored to an older state: what it did after `since` is not known.',
    ),
    ending: optional(z.enum(endingReasons)).describe(
      'Why nothing new is started any more, while work in flight continues to its end.',
    ),
    trigger: z.enum(triggers),
    started_by: optional(z.object({ kind: text, name: text })).describe(
      'Who requested it. Left out for a run that a schedule started.',
    ),
    scheduled_for: time,
    deadline: optional(DeadlineReport),
    window_ends: optional(time).describe(
      'After this time nothing new of it begins (`window.until` of the policy).',
    ),
    after_run: optional(text).describe('The run whose end started it (`schedule.after`).'),
    plan_hash: optional(text).describe('The hash of the saved plan that it applies.'),
    spread: optional(z.object({ from: time, until: time, targets: z.int() })).describe(
      'The window over which its targets start (`schedule.spread`).',
    ),
    created_at: time,
    started_at: time.nullable(),
    finished_at: time.nullable(),
    expected_end: optional(time.nullable()).describe(
      'When it is expected to end, null while that is not known. Left out for a run that has ended, and in messages.',
    ),
    waits: optional(text).describe(
      'For what it waits, with "it" before it: `waits for an approval`. Left out while its end is known.',
    ),
    plan_complete: z.boolean().describe('Whether the number of its targets is final.'),
    requests: z.int().describe('Requests to the service that it has cost so far.'),
    requests_by_operation: z.record(text, z.int()),
    names: optional(z.array(LookedUp.omit({ path: true }))).describe(
      'The ids that names in the policy stand for in this run.',
    ),
    counts: Counts,
    remarks: optional(z.array(Remark.omit({ is: true }))).describe(
      'What planning found wrong with the run as a whole: a list that is incomplete, or something in the policy that the account does not have.',
    ),
    rollout: optional(RolloutReport).describe('Its batches and how far they are.'),
    approvals: optional(z.array(ApprovalReport)).describe(
      'The approvals that it waited for, the present one last.',
    ),
    findings: optional(
      FindingChanges.omit({ firstNew: true, firstResolved: true, resolvedOf: true }).extend({
        first_new: z.array(ChangeReport),
        first_resolved: z.array(ChangeReport),
      }),
    ).describe(
      "Its findings compared with those of the policy's earlier runs: how many it saw (`open`), how many of them are new, and how many earlier ones are resolved; with the first ten of both. Left out before the run has ended.",
    ),
    recordings: optional(
      RecordingCounts.omit({ first: true }).extend({
        first_unrecorded: z.array(Unrecorded.extend({ kind: z.enum(['custom_work', 'note']) })),
      }),
    ).describe(
      'What it writes to its sites (`record:`): how many recordings there are, how many are written, were given up or are left to people, the requests that they cost in addition to those of the run, and the first ten that are not written.',
    ),
  })
  .meta({ id: 'Run' });
export type RunSummary = z.output<typeof RunSummary>;

/** A request that was sent for a target, and how it was answered. */
const RequestReport = z.object({
  operation: text,
  at: time,
  ms: z.number().describe('From sending the request to the begin of its answer.'),
  status: z.int().nullable().describe('The HTTP status; null when no answer came.'),
  request_id: text.nullable().describe('The id that the service gave the request.'),
  error: z
    .object({ code: text.nullable(), message: text.nullable() })
    .nullable()
    .describe('What an answer that is no success says, or why there is no answer; null for a success.'),
});
export type RequestReport = z.output<typeof RequestReport>;

/** The state of a target; `outcome`, `reason` and `detail` can be null until it has ended. */
export const TargetReport = z
  .object({
    id: text,
    label: text,
    state: z.enum(targetStates).describe('`ended` once it has an outcome.'),
    outcome: z.enum(outcomes).nullable(),
    reason: text.nullable(),
    detail: text.nullable(),
    task_id: text.nullable(),
    findings: optional(z.array(Finding.omit({ event: true, settles: true }))).describe(
      'What a person should know in addition to the outcome.',
    ),
    steps: optional(z.array(StepReport)).describe(
      'The result of each step of the policy; left out for a policy without `steps`.',
    ),
    lost_at: optional(time).describe(
      'Since when the service no longer knows its work, which is searched for.',
    ),
    requests: optional(z.array(RequestReport)).describe(
      'The first and the last requests that were sent for the target alone, in order.',
    ),
    more_requests: optional(z.int()).describe('How many more were sent between them.'),
    attempts: z
      .int()
      .describe('How often it was tried: 0 before the first time, and for a target that needed no request.'),
    failed_attempts: z.int().describe('Those of them that failed because of the service.'),
    started_at: time.nullable(),
    finished_at: time.nullable(),
  })
  .meta({ id: 'Target' });
export type TargetReport = z.output<typeof TargetReport>;

/** A run with its targets, in the order of its plan. */
export interface RunReport extends RunSummary {
  targets: TargetReport[];
}

/** A run with the targets given. */
export function toReport(run: Run, targets: readonly Target[], now?: number): RunReport {
  const stepNames = stepNamesOf(run);
  return {
    ...toSummary(run, now),
    targets: targets.map((target) => toTargetReport(target, stepNames)),
  };
}

/** A run without its targets. `now`: to say when it ends; `attendedAt`: see `runEndOf`. */
export const toSummary = (run: Run, now?: number, attendedAt?: number): RunSummary => ({
  run: run.id,
  policy: run.policy,
  job: run.job,
  account: run.account,
  status: run.status,
  ...defined({ detail: run.detail }),
  ...(run.held ? { held: { at: isoTime(run.held.at), since: isoTime(run.held.since) } } : {}),
  ...defined({ ending: run.ending }),
  trigger: run.trigger,
  ...(run.startedBy ? { started_by: { kind: run.startedBy.kind, name: run.startedBy.name } } : {}),
  scheduled_for: isoTime(run.scheduledFor),
  ...defined({ after_run: run.afterRun, plan_hash: run.planHash }),
  ...(run.spread
    ? {
        spread: {
          from: isoTime(run.spread.from),
          until: isoTime(run.spread.from + run.spread.ms),
          targets: run.spread.targets,
        },
      }
    : {}),
  ...(run.dueBy === undefined ? {} : { deadline: deadlineOf(run, run.dueBy) }),
  ...(run.windowEndsAt === undefined ? {} : { window_ends: isoTime(run.windowEndsAt) }),
  created_at: isoTime(run.createdAt),
  started_at: isoTimeOrNull(run.startedAt),
  finished_at: isoTimeOrNull(run.finishedAt),
  ...(now === undefined ? {} : endReport(runEndOf(run, now, attendedAt))),
  plan_complete: run.planComplete === true,
  requests: run.requests,
  requests_by_operation: run.requestsByOperation ?? {},
  ...(run.names ? { names: run.names.map(({ kind, name, id }) => ({ kind, name, id })) } : {}),
  counts: countsOf(run.counts),
  ...(run.remarks && run.remarks.length > 0
    ? { remarks: run.remarks.map(({ severity, about, message }) => ({ severity, about, message })) }
    : {}),
  ...(run.rollout ? { rollout: rolloutReport(run.rollout) } : {}),
  ...(run.approvals ? { approvals: run.approvals.map(approvalReport) } : {}),
  ...(run.findings ? { findings: findingsOf(run.findings) } : {}),
  ...(run.recordings ? { recordings: recordingsOf(run.recordings) } : {}),
});

/** Without `found` when it is 0. */
const countsOf = ({ found, ...counts }: Counts): Counts => ({ ...counts, ...(found && { found }) });

const endReport = (end: RunEnd | undefined) =>
  end && { expected_end: isoTimeOrNull(end.at), ...(end.waits === undefined ? {} : { waits: end.waits }) };

const deadlineOf = ({ late, finishedAt }: Run, dueBy: number): NonNullable<RunSummary['deadline']> => ({
  at: isoTime(dueBy),
  missed: late?.is === 'missed' || (finishedAt !== undefined && finishedAt > dueBy),
  alerted_at: isoTimeOrNull(late?.at),
  expected_end: isoTimeOrNull(late?.expected),
});

/** What is to be said about the deadline of a run: `is predicted to miss its deadline ...`. */
export function formatLate({ dueBy, late, finishedAt, counts }: Run): string | undefined {
  if (dueBy === undefined || !late) return undefined;
  const by = isoMinute(dueBy);
  if (finishedAt !== undefined && finishedAt <= dueBy)
    return `was predicted to miss its deadline (${by}), and met it`;
  if (finishedAt !== undefined || late.is === 'missed') return `missed its deadline (${by})`;
  const ended = counts.succeeded + counts.failed + counts.skipped + counts.cancelled;
  const expected = late.expected === undefined ? '' : `: expected to end at ${isoMinute(late.expected)}`;
  return `is predicted to miss its deadline (${by})${expected}; ${ended} of ${counts.planned} targets have ended`;
}

const recordingsOf = ({ first = [], ...counts }: RecordingCounts) => ({
  ...counts,
  first_unrecorded: first.map(({ kind, ...one }) => ({
    ...one,
    kind: kind === 'work' ? ('custom_work' as const) : kind,
  })),
});

const findingsOf = ({ open, new: added, resolved, firstNew = [], firstResolved = [] }: FindingChanges) => ({
  ...{ open, new: added, resolved },
  first_new: firstNew.map(changeReport),
  first_resolved: firstResolved.map(changeReport),
});

const changeReport = ({ since, ...change }: FindingChange) => ({ ...change, since: isoTime(since) });

/** One target of a run. `stepNames`: those of the run (`stepNamesOf`). */
export const toTargetReport = (target: Target, stepNames: readonly string[]): TargetReport => ({
  id: target.id,
  label: target.label,
  state: target.state,
  outcome: target.outcome ?? null,
  reason: target.reason ?? null,
  detail: target.detail ?? null,
  task_id: target.taskId ?? null,
  ...(target.findings
    ? { findings: target.findings.map(({ event: _event, settles: _settles, ...shown }) => shown) }
    : {}),
  ...(stepNames.length === 0 ? {} : { steps: stepReports(stepNames, target) }),
  ...(target.lostAt === undefined ? {} : { lost_at: isoTime(target.lostAt) }),
  ...(target.requests ? { requests: target.requests.map(toRequestReport) } : {}),
  ...defined({ more_requests: target.moreRequests }),
  attempts: attemptsOf(target),
  failed_attempts: target.attempts,
  started_at: isoTimeOrNull(target.startedAt),
  finished_at: isoTimeOrNull(target.finishedAt),
});

/** How often a target was tried. One that was given up has no attempt but those that failed; one that waits has no other yet. */
export function attemptsOf({ startedAt, attempts, state, reason }: Target): number {
  if (startedAt === undefined) return 0;
  const isOver = state === 'waiting' || reason === 'unavailable';
  return Math.max(1, isOver ? attempts : attempts + 1);
}

const toRequestReport = (request: SentRequest): RequestReport => {
  const { operation, at, ms, status, id, code, message } = request;
  return {
    operation,
    at: isoTime(at),
    ms,
    status: status ?? null,
    request_id: id ?? null,
    error: isFailure(request) ? { code: code ?? null, message: message ?? null } : null,
  };
};

/** The columns of targets as CSV. */
export const targetColumns = [
  ...['run', 'id', 'label', 'outcome', 'reason', 'detail', 'task_id', 'attempts', 'started_at'],
  'finished_at',
];

/** The columns of runs as CSV. */
export const runColumns = [
  ...['run', 'policy', 'account', 'status', 'trigger', 'created_at', 'started_at', 'finished_at', 'planned'],
  ...['succeeded', 'failed', 'skipped', 'cancelled', 'requests', 'detail'],
];
