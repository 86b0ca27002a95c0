/** The engine's front: fire, cancel, retry, preview a plan, and be at work. */
import type { Policy } from '../policy/policy.ts';
import type { Run } from '../run/run.ts';
import type { EngineDeps } from './deps.ts';
import { type Firing, fire } from './fire.ts';
import { type Preview, previewPlan } from './plan/preview.ts';
import {
  cancelById,
  cancelForNewer,
  forceEndById,
  nudgeById,
  releaseById,
  retryById,
} from './run-commands.ts';
import { startWork, type Working } from './work.ts';

export interface Engine {
  /** Makes the run of a firing; see `fire`. */
  fire(policy: Policy, firing: Firing): Promise<Run>;
  /**
   * Calls a run off: nothing new is begun, tasks that it has started in the service are cancelled there
   * unless `tasks` is false, what else is in flight is followed to its end, every target gets an outcome.
   *
   * @throws {RunError} when there is no such run or it has ended.
   */
  cancel(runId: string, options?: { tasks?: boolean }): Promise<void>;
  /**
   * Ends a run at once, without waiting for what is in flight: see `forceEndRun`. Gives the run as it ended.
   *
   * @throws {RunError} when there is no such run or it has ended.
   */
  forceEnd(runId: string): Promise<Run>;
  /**
   * Fires a new run of the same policy, as it was, over the targets that failed; over all that it selects,
   * when a target failed that stands for them.
   *
   * @throws {RunError} when there is no such run, it has not ended, or nothing in it failed.
   */
  retry(runId: string, options?: Pick<Firing, 'ignoreFreeze'>): Promise<Run>;
  /**
   * Has a run that stands still tried again at once, instead of at the next probe: after its cause was
   * fixed.
   *
   * @throws {RunError} when there is no such run or it has ended.
   */
  nudge(runId: string): Promise<void>;
  /**
   * Lets a run go on that is held because Redis was put back to an older state: what it shows as open is
   * worked on, though it may have been done already.
   *
   * @throws {RunError} when there is no such run, it has ended, or it is not held.
   */
  release(runId: string): Promise<void>;
  /** What a policy would do now, without doing it. Costs the requests of planning. */
  preview(policy: Policy, only?: readonly string[]): Promise<Preview>;
  /** Takes part in the work until stopped: plans, acts and follows, for every run on this Redis. */
  work(concurrency: number): Working;
}

/** Puts the engine together. */
export function createEngine(deps: EngineDeps): Engine {
  return {
    fire: (policy, firing) => fire(deps, policy, firing, cancelForNewer(deps)),
    cancel: (runId, options) => cancelById(deps, runId, options),
    forceEnd: (runId) => forceEndById(deps, runId),
    retry: (runId, options) => retryById(deps, runId, options),
    nudge: (runId) => nudgeById(deps, runId),
    release: (runId) => releaseById(deps, runId),
    preview: (policy, only) => previewPlan(deps, policy, only),
    work: (concurrency) => startWork(deps, concurrency),
  };
}
