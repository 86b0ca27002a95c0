/**
 * Policies, runs and targets as values, with what a test cares about; light, so that every test may begin
 * with them.
 */
import type { Policy, Schedule } from '../../src/policy/policy.ts';
import { type Run, Target, type TargetIn, type TargetState } from '../../src/run/run.ts';

/** A policy as the loader would give it. */
export function aPolicy(changes: Partial<Policy> = {}): Policy {
  return {
    name: 'nightly-sync',
    account: 'default',
    job: 'site-sync',
    priority: 'normal',
    select: { filters: {} },
    options: {},
    limits: { concurrency: 20, maxTargets: 10_000, maxPercent: 100 },
    retry: { attempts: 4, backoff: 'exponential', delayMs: 30_000, maxDelayMs: 900_000 },
    timeout: { targetMs: 7_200_000, runMs: 28_800_000 },
    notify: [],
    file: 'test.yaml',
    hash: 'test',
    ...changes,
  };
}

/** Every full hour in UTC, and nothing caught up. */
export const aSchedule = (changes: Partial<Schedule> = {}): Schedule => ({
  cron: ['0 * * * *'],
  timezone: 'UTC',
  jitterMs: 0,
  overlap: 'skip',
  catchupMs: 0,
  blackout: [],
  ...changes,
});

let runs = 0;

/** A queued run with an id of its own, made after those before it. */
export function aRun(changes: Partial<Run> = {}): Run {
  runs += 1;
  return {
    id: `nightly.${runs}`,
    policy: 'nightly',
    job: 'site-sync',
    account: 'agency',
    status: 'queued',
    trigger: 'schedule',
    scheduledFor: 1_000,
    createdAt: 1_000 + runs,
    requests: 0,
    counts: { planned: 0, succeeded: 0, failed: 0, skipped: 0, cancelled: 0 },
    policyJson: JSON.stringify(aPolicy({ name: 'nightly' })),
    policyHash: 'h',
    ...changes,
  };
}

/** A target that nobody has begun. */
export function aTarget<State extends TargetState = 'pending'>(
  id: string,
  changes: TargetChanges<State> = {},
): TargetIn<State> {
  const known = { label: `${id}.example`, state: 'pending', fence: 0, attempts: 0, waits: 0, ...changes };
  const given = Object.entries(known).filter(([, value]) => value !== undefined);
  const target = { ...needed[known.state as TargetState], id, ...Object.fromEntries(given) };
  return Target.parse(target) as TargetIn<State>;
}

export type TargetChanges<State extends TargetState> = {
  [Field in Exclude<keyof Target, 'state'>]?: Target[Field] | undefined;
} & { state?: State };

/** What a target must have in each state besides what every one has. */
const needed: Record<TargetState, object> = {
  pending: {},
  acting: {},
  waiting: {},
  following: { watch: { kind: 'task', taskId: 'task-1', since: 0 } },
  ended: { outcome: 'succeeded', reason: 'done', finishedAt: 2_000 },
};
