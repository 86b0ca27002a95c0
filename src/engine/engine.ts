/** The engine's front: fire, cancel, retry, preview a plan, and be at work. */
import { CaretakerError } from '../errors.ts';
import type { Policy } from '../policy/policy.ts';
import { isFinal } from '../run/moves.ts';
import type { Run } from '../run/run.ts';
import { Actor } from './act/actor.ts';
import { type EngineDeps, policyOf } from './deps.ts';
import { type Firing, fire } from './fire.ts';
import { Planner } from './plan/planner.ts';
import { type Preview, previewPlan } from './plan/preview.ts';
import { probeAccount } from './supervise/block.ts';
import { cancelRun } from './supervise/cancel.ts';
import { forceEndRun } from './supervise/force-end.ts';
import { Supervisor } from './supervise/supervisor.ts';

/** A run that was asked for is not there (any more), or not in a state in which this can be done to it. */
export class RunError extends CaretakerError {
  readonly code = 'RUN';
}

/** Whoever stops waits so long for the answers to what was sent. */
const ANSWERS_WITHIN_MS = 7_000;

/** Work under way in this process. */
export interface Working {
  /** When it was last seen to go on, in milliseconds since 1970: some seconds ago while Redis answers. */
  beatAt(): number | undefined;
  /**
   * Takes nothing new, and records what is under way. A service that does not answer is waited for a few seconds: what was asked
   * of it by then is found out by whoever goes on.
   */
  stop(): Promise<void>;
}

export interface Engine {
  /** Makes the run of a firing; see `fire`. */
  fire(policy: Policy, firing: Firing): Promise<Run>;
  /**
   * Calls a run off: nothing new is begun, tasks that it has started in the service are cancelled there unless `tasks` is
   * false, what else is in flight is followed to its end, every target gets an outcome.
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
   * Fires a new run of the same policy, as it was, over the targets that failed; over all that it selects, when a target failed
   * that stands for them.
   *
   * @throws {RunError} when there is no such run, it has not ended, or nothing in it failed.
   */
  retry(runId: string, options?: Pick<Firing, 'ignoreFreeze'>): Promise<Run>;
  /**
   * Has a run that stands still tried again at once, instead of at the next probe: after its cause was mended.
   *
   * @throws {RunError} when there is no such run or it has ended.
   */
  nudge(runId: string): Promise<void>;
  /**
   * Lets a run go on that is held because Redis was put back to an older state: what it shows as open is worked on, though it may have
   * been done already.
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
  const { records } = deps;

  const giveWay = (run: Run) => cancelRun(deps, run, 'A newer run took its place.');

  const runOf = async (runId: string): Promise<Run> => {
    const run = await records.runs.get(runId);
    if (!run) throw new RunError(`There is no run "${runId}". "caretaker runs" lists them.`);
    return run;
  };

  const unended = async (runId: string): Promise<Run> => {
    const run = await runOf(runId);
    if (!isFinal(run.status)) return run;
    const more = `"caretaker runs show ${runId}" tells of it.`;
    throw new RunError(`The run ${runId} has already ended: ${run.status}. ${more}`);
  };

  /** The targets to do again: all that the policy selects, where one failed that stands for them. */
  const again = ({ job }: Run, failed: string[]): Pick<Firing, 'only'> => {
    const forAll = deps.registry.get(job)?.aggregateIds ?? [];
    return failed.some((id) => forAll.includes(id)) ? {} : { only: failed };
  };

  return {
    fire: (policy, firing) => fire(deps, policy, firing, giveWay),
    async cancel(runId, options) {
      const run = await unended(runId);
      await cancelRun(deps, run, 'It was cancelled by hand.', options);
    },
    async forceEnd(runId) {
      const run = await unended(runId);
      await forceEndRun(deps, run, 'It was cancelled by hand, without waiting for what was under way.');
      return runOf(runId);
    },
    async retry(runId, options = {}) {
      const run = await runOf(runId);
      if (!isFinal(run.status)) throw new RunError(`The run ${runId} has not ended yet: ${run.status}.`);
      const failed: string[] = [];
      for await (const target of records.targets.all(runId))
        if (target.outcome === 'failed') failed.push(target.id);
      if (failed.length === 0)
        throw new RunError(`Nothing failed in the run ${runId}: there is nothing to retry.`);
      return fire(
        deps,
        policyOf(run),
        // For the same moment: last month is still the month that the run was about.
        {
          trigger: 'retry',
          scheduledFor: run.scheduledFor,
          ...again(run, failed),
          retryOf: runId,
          ...options,
        },
        giveWay,
      );
    },
    async nudge(runId) {
      const run = await unended(runId);
      if (run.held) return;
      if (run.status === 'blocked') return probeAccount(deps, run.account);
      if (run.planComplete) return;
      await records.runs.clearDetail(runId);
      await deps.queues.put([{ kind: 'plan', run: runId }]);
    },
    async release(runId) {
      const run = await unended(runId);
      if (!(await records.runs.releaseHeld(run, deps.clock.now())))
        throw new RunError(`The run ${runId} is not held: there is nothing to release.`);
      deps.log.info({ run: runId }, 'a held run was released');
      if (!run.planComplete) await deps.queues.put([{ kind: 'plan', run: runId }]);
    },
    preview: (policy, only) => previewPlan(deps, policy, only),
    work(concurrency) {
      const supervisor = new Supervisor(deps);
      const planner = new Planner(deps);
      const actor = new Actor(deps);
      const working = deps.queues.work(
        {
          plan(entry) {
            supervisor.begins(entry.run);
            return planner.begin(entry);
          },
          act: (entry) => actor.act(entry),
        },
        concurrency,
      );
      supervisor.start();
      return {
        beatAt: () => supervisor.beatAt,
        async stop() {
          const over = new AbortController();
          const patience = deps.clock.sleep(ANSWERS_WITHIN_MS, over.signal).then(() => actor.leave());
          await Promise.all([planner.stop(), supervisor.stop(), working.stop()]);
          over.abort();
          await patience;
          await actor.rest();
        },
      };
    },
  };
}
