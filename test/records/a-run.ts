import type { Run, Target } from '../../src/run/run.ts';

let runs = 0;

/** A queued run of its own id, with what a test cares about. */
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
    policyJson: '{"name":"nightly"}',
    policyHash: 'h',
    ...changes,
  };
}

/** A target that nobody has begun. */
export const aTarget = (id: string, changes: Partial<Target> = {}): Target => ({
  id,
  label: `${id}.example`,
  state: 'pending',
  step: 0,
  attempts: 0,
  waits: 0,
  ...changes,
});
