/**
 * The public form of a run: the JSON object of `run --json`, `runs show --json` and `GET /api/v1/runs/{id}`.
 * Only this file translates internal names to public ones, times to ISO 8601, and unknown values to `null`.
 */
import { isoMinute, isoTime } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Reason } from './reasons.ts';
import type { RecordingCounts } from './recordings.ts';
import { type ApprovalReport, approvalReport, type RolloutReport, rolloutReport } from './rollout-report.ts';
import type {
  Counts,
  Finding,
  FindingChange,
  FindingChanges,
  Outcome,
  Run,
  RunStatus,
  Target,
  TargetState,
  Trigger,
} from './run.ts';
import { type RunEnd, runEndOf } from './run-end.ts';
import { isFailure, type SentRequest } from './sent-request.ts';
import { type StepReport, stepNamesOf, stepReports } from './steps.ts';

/** A run without its targets: one row of a list. */
export interface RunSummary {
  run: string;
  policy: string;
  job: string;
  account: string;
  status: RunStatus;
  /** One sentence: why the run is blocked, was skipped, was stopped or failed. Left out otherwise. */
  detail?: string;
  /** Set while it waits because Redis was restored to an older state: what it did after `since` is not known. */
  held?: { at: string; since: string };
  /** Why nothing new is started any more, while work in flight continues to its end. Left out otherwise. */
  ending?: NonNullable<Run['ending']>;
  trigger: Trigger;
  /** Who requested it. Left out for a run that a schedule started. */
  started_by?: { kind: string; name: string };
  scheduled_for: string;
  /** Left out for a run without a deadline. */
  deadline?: DeadlineReport;
  /** After this time nothing new of it begins (`window.until` of the policy). Left out for a run without one. */
  window_ends?: string;
  /** The run whose end started it (`schedule.after`). Left out for any other run. */
  after_run?: string;
  /** The hash of the saved plan that it applies. Left out for any other run. */
  plan_hash?: string;
  /**
   * The window over which its targets start (`schedule.spread`). Left out when they start as soon as
   * possible.
   */
  spread?: { from: string; until: string; targets: number };
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  /** When it is expected to end, null while that is not known. Left out for a run that has ended, and in messages. */
  expected_end?: string | null;
  /** For what it waits, with "it" before it: `waits for an approval`. Left out while its end is known. */
  waits?: string;
  /** Whether the number of its targets is final. */
  plan_complete: boolean;
  /** Requests to the service that it has cost so far. */
  requests: number;
  requests_by_operation: Readonly<Record<string, number>>;
  /** The ids that names in the policy stand for in this run. Left out when it has none. */
  names?: { kind: string; name: string; id: string }[];
  counts: Counts;
  /**
   * What planning found wrong with the run as a whole: a list that is incomplete, or something in the policy that the
   * account does not have. Left out when there is nothing.
   */
  remarks?: { severity: 'error' | 'warning'; about: string; message: string }[];
  /** Its batches and how far they are. Left out for a policy without `rollout` whose runs need no approval. */
  rollout?: RolloutReport;
  /** The approvals that it waited for, the present one last. Left out when it needs none. */
  approvals?: ApprovalReport[];
  /**
   * Its findings compared with those of the policy's earlier runs: how many it saw (`open`), how many of them
   * are new, and how many earlier ones are resolved; with the first ten of both. Left out before the run has
   * ended, and when there is nothing to compare.
   */
  findings?: {
    open: number;
    new: number;
    resolved: number;
    first_new: FindingReport[];
    first_resolved: FindingReport[];
  };
  /**
   * What it writes to its sites (`record:`): how many recordings there are, how many are written, were given up
   * or are left to people, the requests that they cost in addition to those of the run, and the first ten that are not
   * written. Left out when there are none.
   */
  recordings?: {
    wanted: number;
    recorded: number;
    failed: number;
    left: number;
    requests: number;
    first_unrecorded: { site: string; kind: 'custom_work' | 'note'; state: 'failed' | 'left'; why: string }[];
  };
}

/** A finding that is new or resolved; `since` is when the first run began that saw it. */
export interface FindingReport extends Omit<FindingChange, 'since'> {
  since: string;
}

/** The state of a target; `outcome`, `reason` and `detail` can be null until it has ended. */
export interface TargetReport {
  id: string;
  label: string;
  /** `ended` once it has an outcome. */
  state: TargetState;
  outcome: Outcome | null;
  reason: Reason | null;
  detail: string | null;
  task_id: string | null;
  /** What a person should know in addition to the outcome; left out when there are none. */
  findings?: readonly Finding[];
  /** The result of each step of the policy; left out for a policy without `steps`. */
  steps?: readonly StepReport[];
  /** Since when the service no longer knows its work, which is searched for; left out for any other target. */
  lost_at?: string;
  /** The first and the last requests that were sent for it alone, in order; left out when there are none. */
  requests?: readonly RequestReport[];
  /** How many more were sent between them; left out when there are none. */
  more_requests?: number;
  /** How often it was tried: 0 before the first time, and for a target that needed no request. */
  attempts: number;
  /** Those of them that failed because of the service. */
  failed_attempts: number;
  started_at: string | null;
  finished_at: string | null;
}

/** A request that was sent for a target, and how it was answered. */
export interface RequestReport {
  operation: string;
  at: string;
  ms: number;
  /** The HTTP status; null when no answer came. */
  status: number | null;
  /** The id that the service gave the request, if it shows one. */
  request_id: string | null;
  /** What an answer that is no success says, or why there is no answer; null for a success. */
  error: { code: string | null; message: string | null } | null;
}

/** The deadline of a run, and the alert about it. */
export interface DeadlineReport {
  at: string;
  /** Whether the run was not done by then, as far as known. */
  missed: boolean;
  alerted_at: string | null;
  /** When the run was expected to end, when the alert was made. */
  expected_end: string | null;
}

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

/** A run without its targets. `now`: to say when it ends. */
export const toSummary = (run: Run, now?: number): RunSummary => ({
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
  started_at: timeOrNull(run.startedAt),
  finished_at: timeOrNull(run.finishedAt),
  ...(now === undefined ? {} : endReport(runEndOf(run, now))),
  plan_complete: run.planComplete === true,
  requests: run.requests,
  requests_by_operation: run.requestsByOperation ?? {},
  ...(run.names ? { names: run.names.map(({ kind, name, id }) => ({ kind, name, id })) } : {}),
  counts: {
    planned: run.counts.planned,
    succeeded: run.counts.succeeded,
    failed: run.counts.failed,
    skipped: run.counts.skipped,
    cancelled: run.counts.cancelled,
    ...(run.counts.found ? { found: run.counts.found } : {}),
  },
  ...(run.remarks && run.remarks.length > 0
    ? { remarks: run.remarks.map(({ severity, about, message }) => ({ severity, about, message })) }
    : {}),
  ...(run.rollout ? { rollout: rolloutReport(run.rollout) } : {}),
  ...(run.approvals ? { approvals: run.approvals.map(approvalReport) } : {}),
  ...(run.findings ? { findings: findingsOf(run.findings) } : {}),
  ...(run.recordings ? { recordings: recordingsOf(run.recordings) } : {}),
});

const endReport = (end: RunEnd | undefined) =>
  end && { expected_end: timeOrNull(end.at), ...(end.waits === undefined ? {} : { waits: end.waits }) };

const deadlineOf = ({ late, finishedAt }: Run, dueBy: number): DeadlineReport => ({
  at: isoTime(dueBy),
  missed: late?.is === 'missed' || (finishedAt !== undefined && finishedAt > dueBy),
  alerted_at: timeOrNull(late?.at),
  expected_end: timeOrNull(late?.expected),
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

const findingsOf = ({ firstNew = [], firstResolved = [], ...counts }: FindingChanges) => ({
  open: counts.open,
  new: counts.new,
  resolved: counts.resolved,
  first_new: firstNew.map(toFindingReport),
  first_resolved: firstResolved.map(toFindingReport),
});

const toFindingReport = ({
  target,
  label,
  about,
  severity,
  message,
  since,
}: FindingChange): FindingReport => ({
  target,
  label,
  about,
  severity,
  message,
  since: isoTime(since),
});

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
  started_at: timeOrNull(target.startedAt),
  finished_at: timeOrNull(target.finishedAt),
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

const timeOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : isoTime(ms));

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
