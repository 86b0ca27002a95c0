/**
 * Makes and stores the plan of a run, then lets it go.
 *
 * A plan changes nothing in the account. It is stored page by page under a step of its own, so that when
 * planning is cut off, or runs twice at once, one attempt's plan counts and the other can add nothing to it.
 */

import { AccountRefusedError, UnavailableError } from '../../client/errors.ts';
import { ContractError } from '../../contract/answers.ts';
import { CaretakerError, messageOf } from '../../errors.ts';
import type { AnyJob } from '../../job/job.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Entry } from '../../queue/queues.ts';
import type { Excluded } from '../../records/target-types.ts';
import type { Run, Target } from '../../run/run.ts';
import { concluded } from '../act/decide.ts';
import { type EngineDeps, policyOf } from '../deps.ts';
import { concludeRun, dispatch, finishIfDone } from '../finish-run.ts';
import { turnOf } from '../fire.ts';
import { earlierTargets, previousAt } from '../job-api.ts';
import { Spending } from '../spending.ts';
import { admitAccount, blockAccount } from '../supervise/block.ts';
import { endUnstarted } from '../supervise/end-unstarted.ts';
import { candidates, countAll, type Planned, type Planning } from './candidates.ts';
import { Selection } from './selection.ts';

/** What the plan keeps of a target besides its name. */
const kept = ({ site, jobState }: { site?: string; jobState?: string }) => ({
  ...(site === undefined ? {} : { site }),
  ...(jobState === undefined ? {} : { jobState }),
});

const PAGE = 100;

const overlapped = { detail: 'Another run of the policy was under way (schedule.overlap: skip).' };

/** So often a plan is made again when it fails in a way that nobody foresaw. */
const UNFORESEEN_TRIES = 3;

/**
 * Plans a run that is queued or was cut off while planning, when its turn has come; quietly does nothing for
 * any other. When `stopping` aborts, the plan is left to whoever makes it next.
 */
export async function planRun(
  deps: EngineDeps,
  entry: Extract<Entry, { kind: 'plan' }>,
  stopping: AbortSignal,
): Promise<void> {
  const { records } = deps;
  const run = await records.runs.get(entry.run);
  if (!run || run.ending || run.held || !deps.serves(run.account)) return;
  const job = deps.registry.get(run.job);
  // Perhaps a newer process knows it: that one makes the plan. The supervisor tells when nobody does.
  if (!job || !(await begins(deps, run))) return;
  const planFence = await records.targets.beginPlan(run.id);
  if (planFence === 0) return;
  try {
    const only = await records.runs.only(run.id);
    const previous = job.prepare ? await previousAt(deps, run.policy, run) : undefined;
    const planning = { ...run, status: 'planning' as const };
    await new PlanMaking(deps, planning, job, planFence, { only, previous }, stopping).make();
  } catch (error) {
    if (!stopping.aborted) await failed(deps, run, planFence, error);
  }
}

/** Whether the run is to be planned now: it is being planned already, or its turn has come. */
async function begins(deps: EngineDeps, run: Run): Promise<boolean> {
  const { records, clock } = deps;
  if (run.status === 'planning') return true;
  if (run.status !== 'queued') return false;
  const policy = policyOf(run);
  // Asked again here: two firings at the same instant may each have taken themselves for the only one.
  const turn = turnOf(run, await records.runs.active(run.account), policy);
  if (turn === 'start') {
    const at = clock.now();
    return records.runs.move(run, 'planning', { at, deadline: at + policy.timeout.runMs });
  }
  if (turn === 'skip') await concludeRun(deps, run, 'skipped', overlapped);
  return false;
}

/**
 * What follows when a plan could not be made: it is made again when that may help, else the run has failed.
 */
async function failed(deps: EngineDeps, run: Run, planFence: number, error: unknown): Promise<void> {
  const { records, log } = deps;
  if (error instanceof AccountRefusedError) return blockAccount(deps, run.account, error);
  if (error instanceof UnavailableError) {
    // The service is away: the run stays as it is and says why, and planning is tried again by the
    // supervisor.
    await records.runs.note(run.id, messageOf(error));
    log.warn({ run: run.id }, messageOf(error));
    return;
  }
  const unforeseen = !(error instanceof CaretakerError);
  if (unforeseen) log.error({ run: run.id, err: error }, 'a plan failed unforeseen');
  const isAgain = unforeseen || error instanceof ContractError;
  const attempts = unforeseen ? UNFORESEEN_TRIES : policyOf(run).retry.attempts;
  if (isAgain && (await records.targets.countPlanFailure(run.id)) < attempts) {
    if (!unforeseen) log.warn({ run: run.id }, `planning is tried again: ${messageOf(error)}`);
    return records.runs.note(run.id, messageOf(error));
  }
  await concludeRun(deps, run, 'failed', { detail: `Planning failed: ${messageOf(error)}`, planFence });
}

/** Over how long a run starts its targets; whoever fires one by hand waits for it. */
const spreadOf = ({ schedule }: Policy, { trigger }: Run): number | undefined =>
  trigger === 'manual' || trigger === 'retry' ? undefined : schedule?.spreadMs;

class PlanMaking {
  private readonly spent = new Spending();
  private targets: Target[] = [];
  private excluded: Excluded[] = [];
  private found = 0;
  private readonly planning: Planning;
  private readonly selection: Selection;

  constructor(
    private readonly deps: EngineDeps,
    private readonly run: Run,
    job: AnyJob,
    /** Proves that this attempt is the latest. */
    private readonly fence: number,
    { only, previous }: { only: readonly string[]; previous: number | undefined },
    stopping: AbortSignal,
  ) {
    this.selection = new Selection(policyOf(run), job);
    this.planning = {
      policy: policyOf(run),
      job,
      client: deps.link(run.account).client,
      retry: run.retryOf !== undefined,
      only: only.length > 0 ? only : undefined,
      now: deps.clock.now(),
      at: run.scheduledFor,
      previousAt: previous,
      earlier: () => earlierTargets(deps, policyOf(run), run),
      once: { results: (keys) => deps.records.once.results(run.account, keys) },
      requestClass: 'action',
      onRequest: this.spent.count,
      onCandidate: this.selection.see,
      signal: stopping,
    };
  }

  async make(): Promise<void> {
    const { records } = this.deps;
    const { limits } = this.planning.policy;
    let tooMany: string | undefined;
    let warnings: string[] = [];
    try {
      for await (const planned of candidates(this.planning)) {
        if (this.note(planned) > limits.maxTargets) {
          tooMany = `The plan has more than ${limits.maxTargets} targets (limits.max_targets).`;
          break;
        }
        if (this.targets.length >= PAGE && !(await this.store())) return;
      }
      tooMany ??= await this.overShare();
      if (tooMany === undefined) warnings = await this.selection.warnings(this.planning);
    } finally {
      const spent = this.spent.take();
      await records.runs.countRequests(this.run.id, spent);
      const requests = Object.values(spent).reduce((sum, count) => sum + count, 0);
      await records.runs.notePlan(this.run.id, { requests, targets: this.found });
    }
    if (!(await this.store())) return;
    if (tooMany !== undefined) await this.stop(tooMany);
    else await this.letGo(warnings);
  }

  /** Takes a candidate into the plan; gives how many targets are to be worked on so far. */
  private note(planned: Planned): number {
    const { id, label } = planned;
    if (planned.is === 'excluded') this.excluded.push({ id, label, why: planned.why });
    else {
      const target: Target = { id, label, state: 'pending', fence: 0, attempts: 0, waits: 0 };
      if (planned.is === 'target') this.found += 1;
      this.targets.push(
        planned.is === 'target'
          ? { ...target, ...kept(planned) }
          : concluded(target, planned.end, this.planning.now),
      );
    }
    return this.found;
  }

  private async store(): Promise<boolean> {
    const [targets, leftOut] = [this.targets, this.excluded];
    [this.targets, this.excluded] = [[], []];
    const ours = await this.deps.records.targets.add(this.run.id, this.fence, targets);
    if (ours) await this.deps.records.targets.addExcluded(this.run.id, this.fence, leftOut);
    return ours;
  }

  /**
   * The sentence about `limits.max_percent`, when the plan is over it. Costs a request only when there is a
   * limit.
   */
  private async overShare(): Promise<string | undefined> {
    const { maxPercent } = this.planning.policy.limits;
    if (maxPercent >= 100) return undefined;
    const all = await countAll(this.planning);
    if (this.found * 100 <= maxPercent * all) return undefined;
    return `The plan has ${this.found} of ${all} targets, more than ${maxPercent}% (limits.max_percent).`;
  }

  private async stop(detail: string): Promise<void> {
    const { records } = this.deps;
    const planFence = this.fence;
    await records.runs.end(this.run, 'safety-limit', detail);
    await endUnstarted(this.deps, { ...this.run, ending: 'safety-limit' });
    await concludeRun(this.deps, this.run, 'stopped', { detail, planFence });
  }

  private async letGo(warnings: readonly string[]): Promise<void> {
    const { records, clock, log } = this.deps;
    const detail = warnings.join(' ');
    if (detail !== '') {
      await records.runs.note(this.run.id, detail);
      log.warn({ run: this.run.id }, detail);
    } else if (this.run.detail !== undefined) await records.runs.clearDetail(this.run.id);
    const at = clock.now();
    const ms = spreadOf(this.planning.policy, this.run);
    if (ms !== undefined) await records.targets.spread(this.run.id, this.fence, { from: at, ms });
    const change = { at, planComplete: true, planFence: this.fence } as const;
    if (!(await records.runs.move(this.run, 'running', change))) return;
    // The plan is made, and its targets may be under way: what goes wrong from here on is no failure of the
    // plan.
    await this.begin().catch((error: unknown) =>
      this.deps.log.warn(
        { run: this.run.id, err: error },
        'what follows from a plan is left to the supervisor',
      ),
    );
  }

  private async begin(): Promise<void> {
    await admitAccount(this.deps, this.run.account);
    await dispatch(this.deps, this.run.account);
    await finishIfDone(this.deps, this.run.id);
  }
}
