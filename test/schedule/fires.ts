/** What schedulers fire in tests that work on no run. */
import type { Clock } from '../../src/clock.ts';
import type { Records } from '../../src/records/records.ts';
import type { Run } from '../../src/run/run.ts';
import type { SchedulerDeps } from '../../src/schedule/scheduler.ts';
import { aRun } from '../support/builders.ts';

/** Fires like the engine, without executing runs: one run for each policy and scheduled time, in this status. */
export const firesInto =
  (records: Records, clock: Clock, status: Run['status'] = 'queued'): SchedulerDeps['fire'] =>
  async ({ name, hash }, { trigger, scheduledFor }) => {
    const run = aRun({
      ...{ id: `${name}.${scheduledFor}`, policy: name, policyHash: hash, account: 'default' },
      ...{ status, trigger, scheduledFor, createdAt: clock.now() },
    });
    const scheduledTime = { scheduledFor, is: 'ran' as const, at: clock.now(), run: run.id };
    return records.runs.create(run, { concurrency: 1, targetMs: 1 }, { scheduledTime });
  };
