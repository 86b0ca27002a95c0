/**
 * Policies, runs and targets as values, with the fields that a test needs. Has few imports, so that every
 * test may use it.
 */
import type { Policy, Schedule } from '../../src/policy/policy.ts';
import { type Run, Target, type TargetIn, type TargetState } from '../../src/run/run.ts';

/** A policy as the loader returns it. */
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

/** Every full hour in UTC, without catch-up. */
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

/** A queued run with its own id, created after the previous ones. */
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

/** A target that is not started. */
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

/** The additional fields of a target in each state. */
const needed: Record<TargetState, object> = {
  pending: {},
  acting: {},
  waiting: {},
  following: { watch: { kind: 'task', taskId: 'task-1', since: 0 } },
  ended: { outcome: 'succeeded', reason: 'done', finishedAt: 2_000 },
};

/** A step of a policy, with the options of its job. */
export interface AStep {
  name: string;
  job: string;
  options: unknown;
}

/** A policy with these steps over all sites. */
export const aPolicyOf = (steps: readonly AStep[], changes: Partial<Policy> = {}): Policy =>
  aPolicy({
    name: 'maintenance',
    job: steps.map(({ job }) => job).join(', '),
    steps: steps.map(({ name, job }) => ({ name, job })),
    options: steps.map(({ options }) => options),
    select: { from: 'listSites', filters: {} },
    ...changes,
  });
