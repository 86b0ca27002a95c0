/**
 * Reads the public form of a run back, so that what was read from a server is shown as what was read from the records.
 * What the public form does not have is left out.
 */

import { defined } from '../defined.ts';
import type { Reason } from './reasons.ts';
import type { RequestReport, RunSummary, TargetReport } from './report.ts';
import { approvalIn, rolloutIn } from './rollout-report.ts';
import type { Run, Target } from './run.ts';
import type { SentRequest } from './sent-request.ts';

/** The run in its summary. `stepNames`: those of its targets. */
export function toRun(summary: RunSummary, stepNames: readonly string[] = []): Run {
  const { findings, recordings, spread, deadline } = summary;
  const startedAt = timeIn(summary.started_at);
  const finishedAt = timeIn(summary.finished_at);
  const missed = deadline?.alerted_at ? timeIn(deadline.alerted_at) : undefined;
  const expected = timeIn(deadline?.expected_end);
  return {
    id: summary.run,
    policy: summary.policy,
    job: summary.job,
    account: summary.account,
    status: summary.status,
    trigger: summary.trigger,
    scheduledFor: Date.parse(summary.scheduled_for),
    createdAt: Date.parse(summary.created_at),
    requests: summary.requests,
    requestsByOperation: summary.requests_by_operation,
    counts: summary.counts,
    policyJson: JSON.stringify(stepNames.length === 0 ? {} : { steps: stepNames.map((name) => ({ name })) }),
    policyHash: '',
    ...defined({ detail: summary.detail }),
    ...waitsOf(summary),
    ...(summary.started_by ? { startedBy: summary.started_by } : {}),
    ...defined({ afterRun: summary.after_run, startedAt, finishedAt }),
    ...(summary.plan_complete ? { planComplete: true as const } : {}),
    ...(spread
      ? {
          spread: {
            from: Date.parse(spread.from),
            ms: Date.parse(spread.until) - Date.parse(spread.from),
            targets: spread.targets,
          },
        }
      : {}),
    ...(deadline ? { dueBy: Date.parse(deadline.at) } : {}),
    ...defined({ windowEndsAt: timeIn(summary.window_ends) }),
    ...(deadline && missed !== undefined
      ? {
          late: {
            is: deadline.missed ? ('missed' as const) : ('predicted' as const),
            at: missed,
            ...defined({ expected }),
          },
        }
      : {}),
    ...(findings
      ? {
          findings: {
            open: findings.open,
            new: findings.new,
            resolved: findings.resolved,
            firstNew: findings.first_new.map(toFinding),
            firstResolved: findings.first_resolved.map(toFinding),
          },
        }
      : {}),
    ...(recordings
      ? {
          recordings: {
            wanted: recordings.wanted,
            recorded: recordings.recorded,
            failed: recordings.failed,
            left: recordings.left,
            requests: recordings.requests,
            first: recordings.first_unrecorded.map(({ kind, ...one }) => ({
              ...one,
              kind: kind === 'custom_work' ? ('work' as const) : kind,
            })),
          },
        }
      : {}),
  };
}

/** What the run waits for, and the plan that it rests on. */
function waitsOf({ held, ending, plan_hash, names, rollout, approvals }: RunSummary) {
  return {
    ...(held ? { held: { at: Date.parse(held.at), since: Date.parse(held.since) } } : {}),
    ...defined({ ending, planHash: plan_hash }),
    // Where the names are in the policy is not public.
    ...(names ? { names: names.map((one) => ({ ...one, path: [] })) } : {}),
    ...(rollout ? { rollout: rolloutIn(rollout) } : {}),
    ...(approvals ? { approvals: approvals.map(approvalIn) } : {}),
  };
}

const toFinding = ({ since, ...finding }: NonNullable<RunSummary['findings']>['first_new'][number]) => ({
  ...finding,
  since: Date.parse(since),
});

const timeIn = (text: string | null | undefined): number | undefined =>
  text === null || text === undefined ? undefined : Date.parse(text);

/** The names of the steps that targets show. */
export const stepNamesIn = (targets: readonly TargetReport[]): string[] =>
  targets.find(({ steps }) => steps)?.steps?.map(({ step }) => step) ?? [];

const toRequest = ({ at, status, request_id, error, ...rest }: RequestReport): SentRequest => ({
  ...rest,
  at: Date.parse(at),
  ...(status === null ? {} : { status }),
  ...(request_id === null ? {} : { id: request_id }),
  ...(error?.code ? { code: error.code } : {}),
  ...(error?.message ? { message: error.message } : {}),
});

/** A target in its report: enough to show it, not to work on it. */
export function toTarget(report: TargetReport): Target {
  const startedAt = timeIn(report.started_at);
  const finishedAt = timeIn(report.finished_at);
  const done = (report.steps ?? []).filter(({ finished_at, state }) => finished_at && state === 'succeeded');
  const steps = done.slice(0, report.outcome === 'succeeded' ? -1 : undefined);
  return {
    id: report.id,
    label: report.label,
    state: report.state,
    fence: 0,
    attempts: report.failed_attempts,
    waits: 0,
    ...(report.lost_at === undefined ? {} : { lostAt: Date.parse(report.lost_at) }),
    ...(report.outcome === null ? {} : { outcome: report.outcome }),
    ...(report.reason === null ? {} : { reason: report.reason as Reason }),
    ...(report.detail === null ? {} : { detail: report.detail }),
    ...(report.task_id === null ? {} : { taskId: report.task_id }),
    ...(report.findings ? { findings: [...report.findings] } : {}),
    ...(report.requests ? { requests: report.requests.map(toRequest) } : {}),
    ...defined({ moreRequests: report.more_requests }),
    ...(steps.length > 0
      ? {
          steps: steps.map(({ reason, detail, task_id, finished_at }) => ({
            reason: reason as Reason,
            at: Date.parse(finished_at ?? ''),
            ...(detail === null ? {} : { detail }),
            ...(task_id === null ? {} : { taskId: task_id }),
          })),
        }
      : {}),
    ...defined({ startedAt, finishedAt }),
  } as object as Target;
}
