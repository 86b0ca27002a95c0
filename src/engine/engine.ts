/** The public interface of the engine: fire, cancel, retry, preview a plan, and work. */
import type { Policy } from '../policy/policy.ts';
import type { Run } from '../run/run.ts';
import { Actor } from './act/actor.ts';
import { onceOf } from './act/ownership.ts';
import type { EngineDeps } from './deps.ts';
import { type Firing, fire } from './fire.ts';
import { applyPlan } from './plan/apply-plan.ts';
import { idsOfTargets } from './plan/named-sites.ts';
import { Planner } from './plan/planner.ts';
import { type Preview, previewPlan } from './plan/preview.ts';
import { makeSavedPlan, type SaveDeps, type Saving } from './plan/save-plan.ts';
import type { SavedPlan } from './plan/saved-plan.ts';
import { Recorder } from './record/recorder.ts';
import { approveRun, type Deciding, rejectRun } from './rollout/approval.ts';
import { type Person, skipPause } from './rollout/manual-changes.ts';
import {
  cancelById,
  cancelForNewer,
  forceEndById,
  nudgeById,
  type RetryOptions,
  releaseById,
  resumeById,
  retryById,
} from './run-commands.ts';
import { Supervisor } from './supervise/supervisor.ts';

export interface Engine {
  /** Creates the run of a firing; see `fire`. */
  fire(policy: Policy, firing: Firing): Promise<Run>;
  /**
   * Cancels a run: nothing new is started, and every target gets an outcome. Tasks that the run started in
   * the service are cancelled there, unless `tasks` is false. Other work in flight is followed to its end.
   *
   * @throws {RunError} when there is no such run or it has ended.
   */
  cancel(runId: string, options?: { tasks?: boolean; why?: string }): Promise<void>;
  /**
   * Ends a run at once, without waiting for work in flight; see `forceEndRun`. Returns the ended run.
   *
   * @throws {RunError} when there is no such run or it has ended.
   */
  forceEnd(runId: string): Promise<Run>;
  /**
   * Fires a new run of the same version of the policy over the targets that failed and that a retry may help, or over
   * those of `which`. When a target failed that
   * stands for all of them (`aggregateIds` of the job), the new run covers everything that the policy
   * selects; after a run of single targets it is refused.
   *
   * @throws {RunError} when there is no such run, it has not ended, or nothing in it failed.
   */
  retry(runId: string, options?: RetryOptions): Promise<Run>;
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
  /**
   * Approves a run that waits for it: whole, up to a batch, or only some targets; see `approveRun`.
   *
   * @throws {ApprovalError}
   */
  approve(runId: string, deciding: Deciding): Promise<void>;
  /**
   * Rejects a run that waits for an approval, one of its batches, or some targets; see `rejectRun`.
   *
   * @throws {ApprovalError}
   */
  reject(runId: string, deciding: Deciding): Promise<void>;
  /**
   * Ends the pause of a rollout; its gate is asked at once.
   *
   * @throws {RolloutError} when the run does not pause.
   */
  skipPause(runId: string, person: Person): Promise<void>;
  /**
   * Begins the next batch of a rollout whatever its gate says. For a run that its gate has stopped, fires a new run of
   * the same version of the policy over the targets that were not started, and returns it.
   *
   * @throws {RolloutError} when there is nothing to resume.
   */
  resume(runId: string, person: Person): Promise<Run>;
  /** Plans what a run of a policy would do now, without doing it. Costs the requests of planning. */
  preview(policy: Policy, only?: readonly string[]): Promise<Preview>;
  /** Plans so that the plan can be saved and applied later; see `makeSavedPlan`. */
  planToSave(policy: Policy, saving: Saving): Promise<{ saved: SavedPlan; preview: Preview }>;
  /** Creates the run that applies a saved plan; see `applyPlan`. */
  apply(saved: SavedPlan, firing: Pick<Firing, 'startedBy' | 'ignoreFreeze'>): Promise<Run>;
  /** Plans, acts and follows until stopped, for every run in this Redis. */
  work(concurrency: number): Working;
}

/** Creates the engine. */
export function createEngine(deps: EngineDeps): Engine {
  /** With the ids of the targets that a person named. */
  const named = async <T extends { only?: readonly string[] | undefined }>(policy: Policy, one: T) =>
    one.only ? { ...one, only: await idsOfTargets(deps, policy, one.only) } : one;
  return {
    fire: async (policy, firing) => {
      const wanted = firing.trigger === 'manual' ? await named(policy, firing) : firing;
      return fire(deps, policy, wanted, cancelForNewer(deps));
    },
    cancel: (runId, options) => cancelById(deps, runId, options),
    forceEnd: (runId) => forceEndById(deps, runId),
    retry: (runId, options) => retryById(deps, runId, options),
    nudge: (runId) => nudgeById(deps, runId),
    release: (runId) => releaseById(deps, runId),
    approve: (runId, deciding) => approveRun(deps, runId, deciding),
    reject: (runId, deciding) => rejectRun(deps, runId, deciding),
    skipPause: (runId, person) => skipPause(deps, runId, person),
    resume: (runId, person) => resumeById(deps, runId, person),
    preview: async (policy, only) => previewPlan(deps, policy, (await named(policy, { only })).only),
    planToSave: async (policy, saving) =>
      makeSavedPlan(savingDeps(deps), policy, await named(policy, saving)),
    apply: (saved, firing) => applyPlan(deps, saved, firing, cancelForNewer(deps)),
    work: (concurrency) => startWork(deps, concurrency),
  };
}

const savingDeps = (deps: EngineDeps): SaveDeps => ({
  records: deps.records,
  registry: deps.registry,
  clock: deps.clock,
  link: deps.link,
  holderOf: (account, target) => onceOf(deps, { id: 'plan', account }, { id: target }).holder,
});

/** How long a stopping process waits for answers to its requests. */
const STOP_TIMEOUT_MS = 7_000;

/** The running work of this process. */
interface Working {
  /**
   * When the supervisor last completed a tick, in milliseconds since 1970: at most some seconds ago while
   * Redis answers.
   */
  beatAt(): number | undefined;
  /**
   * Takes no new entries, and records the work in progress. Waits some seconds at most for answers of the
   * service. Requests without an answer by then are reconciled by the next worker.
   */
  stop(): Promise<void>;
}

/** Takes entries from the queues and supervises accounts, until stopped. */
function startWork(deps: EngineDeps, concurrency: number): Working {
  const supervisor = new Supervisor(deps);
  const planner = new Planner(deps);
  const actor = new Actor(deps, concurrency);
  const recorder = new Recorder(deps);
  const queues = deps.queues.work(
    {
      plan(entry) {
        supervisor.noteStarted(entry.run);
        return planner.begin(entry);
      },
      act: (entry) => actor.act(entry),
    },
    concurrency,
  );
  supervisor.start();
  recorder.start();
  const listening = deps.records.listen((event) => {
    if (event.type === 'run.moved') supervisor.wake();
    if (event.type === 'target.ended') recorder.wake();
  });
  // Without the events, both look for work every few seconds.
  listening.catch((error: unknown) => deps.log.warn({ err: error }, 'the events could not be listened to'));
  return {
    beatAt: () => supervisor.lastTickAt,
    async stop() {
      actor.claimNoMore();
      const stopped = new AbortController();
      const timeout = deps.clock.sleep(STOP_TIMEOUT_MS, stopped.signal).then(() => {
        actor.stopWaiting();
        recorder.stopWaiting();
      });
      await Promise.all([planner.stop(), supervisor.stop(), queues.stop(), recorder.stop()]);
      stopped.abort();
      // Not awaited: Redis may be unavailable.
      void listening.then((stop) => stop()).catch(() => undefined);
      await timeout;
      await actor.whenIdle();
    },
  };
}
