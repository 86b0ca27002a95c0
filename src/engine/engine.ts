/** The public interface of the engine: fire, cancel, retry, preview a plan, and work. */
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
  /** Creates the run of a firing; see `fire`. */
  fire(policy: Policy, firing: Firing): Promise<Run>;
  /**
   * Cancels a run: nothing new is started, and every target gets an outcome. Tasks that the run started in
   * the service are cancelled there, unless `tasks` is false. Other work in flight is followed to its end.
   *
   * @throws {RunError} when there is no such run or it has ended.
   */
  cancel(runId: string, options?: { tasks?: boolean }): Promise<void>;
  /**
   * Ends a run at once, without waiting for work in flight; see `forceEndRun`. Returns the ended run.
   *
   * @throws {RunError} when there is no such run or it has ended.
   */
  forceEnd(runId: string): Promise<Run>;
  /**
   * Fires a new run of the same version of the policy over the targets that failed. When a target failed that
   * stands for all of them (`aggregateIds` of the job), the new run covers everything that the policy
   * selects.
   *
   * @throws {RunError} when there is no such run, it has not ended, or nothing in it failed.
   */
  retry(runId: string, options?: Pick<Firing, 'ignoreFreeze'>): Promise<Run>;
  /**
   * Retries a blocked run, or the planning of a run, at once instead of at the next probe. For a person who
   * fixed the cause.
   *
   * @throws {RunError} when there is no such run or it has ended.
   */
  nudge(runId: string): Promise<void>;
  /**
   * Continues a run that is held because Redis was restored to an older state. Its open targets are worked
   * on, although they may have been done already.
   *
   * @throws {RunError} when there is no such run, it has ended, or it is not held.
   */
  release(runId: string): Promise<void>;
  /** Plans what a run of a policy would do now, without doing it. Costs the requests of planning. */
  preview(policy: Policy, only?: readonly string[]): Promise<Preview>;
  /** Plans, acts and follows until stopped, for every run in this Redis. */
  work(concurrency: number): Working;
}

/** Creates the engine. */
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
