/**
 * Makes and stores the plan of a run, then starts the run.
 *
 * A plan changes nothing in the account. It is stored page by page under its own fence. When planning is
 * interrupted, or runs twice at once, only the latest attempt can add to the plan.
 */

import { AccountRefusedError, UnavailableError } from '../../client/errors.ts';
import { ContractError } from '../../contract/answers.ts';
import { CaretakerError, messageOf } from '../../errors.ts';
import type { AnyJob } from '../../job/job.ts';
import { jobOf } from '../../policy/job-of.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Entry } from '../../queue/queues.ts';
import type { ScopedFreeze } from '../../records/freeze-scope.ts';
import type { Group } from '../../records/group-places.ts';
import type { Excluded } from '../../records/target-types.ts';
import type { Run, StepEnd, Target } from '../../run/run.ts';
import { concluded } from '../act/decide.ts';
import { type EngineDeps, policyOf } from '../deps.ts';
import { concludeRun, dispatch, finishIfDone } from '../finish-run.ts';
import { decideOverlap } from '../fire.ts';
import { earlierTargets, previousAt } from '../job-api.ts';
import { Spending } from '../spending.ts';
import { admitAccount, blockAccount } from '../supervise/block.ts';
import { endUnstarted } from '../supervise/end-unstarted.ts';
import { candidates, toolsOf } from './candidates.ts';
import { Directory } from './directory.ts';
import { GroupCounts, withPlaces } from './group-limits.ts';
import { countAll } from './listing.ts';
import { lookUpNames, withNames } from './names.ts';
import { callOptionsOf, type Planned, type Planning } from './planning.ts';
import { Selection } from './selection.ts';

interface Stored {
  site?: string;
  recordSite?: string;
  jobState?: string;
  steps?: readonly StepEnd[];
}

/** The fields that the plan stores for a target besides its id and label. */
const storedFields = ({ site, recordSite, jobState, steps = [] }: Stored) => ({
  ...(site === undefined ? {} : { site }),
  ...(recordSite === undefined ? {} : { recordSite }),
  ...(jobState === undefined ? {} : { jobState }),
  ...(steps.length === 0 ? {} : { steps: [...steps] }),
});

const PAGE = 100;

const skippedDetail = { detail: 'Another run of the policy was active (schedule.overlap: skip).' };

/** How often planning may fail with an unexpected error before the run fails. */
const MAX_UNEXPECTED_FAILURES = 3;

/**
 * Plans a run that is queued and may start, or whose planning was interrupted. Does nothing for any other
 * run. When `stopping` aborts, another process makes the plan later.
 */
export async function planRun(
  deps: EngineDeps,
  entry: Extract<Entry, { kind: 'plan' }>,
  stopping: AbortSignal,
): Promise<void> {
  const { records } = deps;
  const run = await records.runs.get(entry.run);
  if (!run || run.ending || run.held || !deps.serves(run.account)) return;
  const job = jobOf(deps.registry, policyOf(run));
  // A newer process may know the job and make the plan. The supervisor fails the run when none does.
  if (!job || !(await startPlanning(deps, run))) return;
  const planFence = await records.targets.beginPlan(run.id);
  if (planFence === 0) return;
  try {
    const only = await records.runs.only(run.id);
    const previous = job.prepare ? await previousAt(deps, run.policy, run) : undefined;
    const planning = { ...run, status: 'planning' as const };
    const freezes = run.ignoresFreezes ? [] : await records.freeze.ofTargets(run, deps.clock.now());
    const earlier = { only, previous, freezes, stepsDone: await stepsDoneBefore(deps, run) };
    await new PlanBuilder(deps, planning, job, planFence, earlier, stopping).build();
  } catch (error) {
    if (!stopping.aborted) await failed(deps, run, planFence, error);
  }
}

/** Moves a queued run that may start to `planning`. True when the run is to be planned now. */
async function startPlanning(deps: EngineDeps, run: Run): Promise<boolean> {
  const { records, clock } = deps;
  if (run.status === 'planning') return true;
  if (run.status !== 'queued') return false;
  const policy = policyOf(run);
  // Decided again here: two firings at the same time may each have seen no other run.
  const turn = decideOverlap(run, await records.runs.active(run.account), policy);
  if (turn === 'start') {
    const at = clock.now();
    return records.runs.move(run, 'planning', { at, deadline: at + policy.timeout.runMs });
  }
  if (turn === 'skip') await concludeRun(deps, run, 'skipped', skippedDetail);
  return false;
}

/** Handles an error while planning: planning is retried when that may help, else the run fails. */
async function failed(deps: EngineDeps, run: Run, planFence: number, error: unknown): Promise<void> {
  const { records, log } = deps;
  if (error instanceof AccountRefusedError) return blockAccount(deps, run.account, error);
  if (error instanceof UnavailableError) {
    // The service is unavailable. The run keeps its status and shows why; the supervisor retries planning.
    await records.runs.note(run.id, messageOf(error));
    log.warn({ run: run.id }, messageOf(error));
    return;
  }
  const unexpected = !(error instanceof CaretakerError);
  if (unexpected) log.error({ run: run.id, err: error }, 'a plan failed unexpectedly');
  const mayRetry = unexpected || error instanceof ContractError;
  const attempts = unexpected ? MAX_UNEXPECTED_FAILURES : policyOf(run).retry.attempts;
  if (mayRetry && (await records.targets.countPlanFailure(run.id)) < attempts) {
    if (!unexpected) log.warn({ run: run.id }, `planning is retried: ${messageOf(error)}`);
    return records.runs.note(run.id, messageOf(error));
  }
  await concludeRun(deps, run, 'failed', { detail: `Planning failed: ${messageOf(error)}`, planFence });
}

/**
 * The duration over which a run starts its targets. A person waits for a manual run, so it starts them at
 * once.
 */
const spreadOf = ({ schedule }: Policy, { trigger }: Run): number | undefined =>
  trigger === 'manual' || trigger === 'retry' ? undefined : schedule?.spreadMs;

/** What a plan is given of our records. */
interface Given {
  /** The ids of the only targets, if any. */
  only: readonly string[];
  /** When planning of the policy's last whole run started. */
  previous: number | undefined;
  stepsDone: ReadonlyMap<string, readonly StepEnd[]> | undefined;
  freezes: readonly ScopedFreeze[];
}

/** For the retry of a run of a policy with steps: which steps the failed targets have done. */
async function stepsDoneBefore(
  { records }: EngineDeps,
  run: Run,
): Promise<ReadonlyMap<string, readonly StepEnd[]> | undefined> {
  if (run.retryOf === undefined || !policyOf(run).steps) return undefined;
  const done = new Map<string, readonly StepEnd[]>();
  for await (const { id, outcome, steps } of records.targets.all(run.retryOf))
    if (outcome === 'failed' && steps) done.set(id, steps);
  return done;
}

class PlanBuilder {
  private readonly spent = new Spending();
  private targets: Target[] = [];
  private excluded: Excluded[] = [];
  private groups = new Map<string, readonly Group[]>();
  private readonly groupCounts: GroupCounts;
  private targetCount = 0;
  private planning: Planning;
  private selection: Selection;
  private readonly directory: Directory;

  constructor(
    private readonly deps: EngineDeps,
    private readonly run: Run,
    job: AnyJob,
    /** Proves that this planning attempt is the latest. */
    private readonly fence: number,
    { only, previous, freezes, stepsDone }: Given,
    stopping: AbortSignal,
  ) {
    this.planning = {
      policy: policyOf(run),
      job,
      client: deps.link(run.account).client,
      retry: run.retryOf !== undefined,
      ...(stepsDone ? { stepsDone } : {}),
      only: only.length > 0 ? only : undefined,
      now: deps.clock.now(),
      at: run.scheduledFor,
      previousAt: previous,
      earlier: () => earlierTargets(deps, policyOf(run), run),
      once: { results: (keys) => deps.records.once.results(run.account, keys) },
      requestClass: 'action',
      onRequest: this.spent.count,
      freezes,
      signal: stopping,
    };
    this.groupCounts = new GroupCounts(this.planning.policy.limits);
    this.directory = new Directory(this.planning.client, callOptionsOf(this.planning));
    this.selection = new Selection(this.planning.policy, job, this.directory);
  }

  /**
   * Replaces names in the policy by ids. An earlier plan of the run may have looked them up already: its ids are
   * used again.
   */
  private async replaceNames(): Promise<void> {
    const { run, deps, directory } = this;
    const { policy, job } = this.planning;
    const found = run.names ? [] : await lookUpNames(policy, job, directory);
    const names = found.length === 0 ? [] : await deps.records.runs.keepNames(run.id, found);
    this.selection = new Selection(withNames(policy, names), job, directory);
    this.planning = {
      ...this.planning,
      policy: withNames(policy, names),
      onCandidate: this.selection.see,
      onParent: this.selection.seeParent,
      onPushed: this.selection.seePushed,
    };
  }

  async build(): Promise<void> {
    const { records } = this.deps;
    let tooMany: string | undefined;
    let warnings: string[] = [];
    try {
      await this.replaceNames();
      for await (const planned of candidates(this.planning)) {
        this.note(planned);
        tooMany = this.exceededLimit(planned);
        if (tooMany !== undefined) break;
        if (this.targets.length >= PAGE && !(await this.store())) return;
      }
      tooMany ??= await this.exceededPercent();
      if (tooMany === undefined) warnings = await this.selection.warnings(this.planning);
    } finally {
      const spent = this.spent.take();
      await records.runs.countRequests(this.run.id, spent);
      const requests = Object.values(spent).reduce((sum, count) => sum + count, 0);
      await records.runs.notePlan(this.run.id, { requests, targets: this.targetCount });
    }
    if (!(await this.store())) return;
    if (tooMany !== undefined) await this.stop(tooMany);
    else await this.start(warnings);
  }

  /** Adds a candidate to the plan. */
  private note(planned: Planned): void {
    const { id, label } = planned;
    if (planned.is === 'excluded') this.excluded.push({ id, label, why: planned.why });
    else {
      const target: Target = { id, label, state: 'pending', fence: 0, attempts: 0, waits: 0 };
      if (planned.is === 'target') {
        this.targetCount += 1;
        const groups = withPlaces(this.planning.policy.limits, planned.groups ?? []);
        if (groups.length > 0) this.groups.set(id, groups);
      }
      this.targets.push(
        planned.is === 'target'
          ? { ...target, ...storedFields(planned) }
          : concluded({ ...target, ...storedFields(planned) }, planned.end, this.planning.now),
      );
    }
  }

  /** The message about a limit of the number of targets that this one exceeds. */
  private exceededLimit(planned: Planned): string | undefined {
    if (planned.is !== 'target') return undefined;
    const { maxTargets } = this.planning.policy.limits;
    if (this.targetCount > maxTargets)
      return `The plan has more than ${maxTargets} targets (limits.max_targets).`;
    return this.groupCounts.add(planned.groups);
  }

  private async store(): Promise<boolean> {
    const { targets, excluded, groups } = this;
    [this.targets, this.excluded, this.groups] = [[], [], new Map()];
    const ours = await this.deps.records.targets.add(this.run.id, this.fence, targets, groups);
    if (ours) await this.deps.records.targets.addExcluded(this.run.id, this.fence, excluded);
    return ours;
  }

  /**
   * The message about `limits.max_percent`, when the plan exceeds it. Costs a request only when that limit is
   * set.
   */
  private async exceededPercent(): Promise<string | undefined> {
    const { maxPercent } = this.planning.policy.limits;
    if (maxPercent >= 100) return undefined;
    const all = await countAll(this.planning, this.selection.candidates, toolsOf(this.planning));
    if (this.targetCount * 100 <= maxPercent * all) return undefined;
    return `The plan has ${this.targetCount} of ${all} targets, more than ${maxPercent}% (limits.max_percent).`;
  }

  private async stop(detail: string): Promise<void> {
    const { records } = this.deps;
    const planFence = this.fence;
    await records.runs.end(this.run, 'safety-limit', detail);
    await endUnstarted(this.deps, { ...this.run, ending: 'safety-limit' });
    await concludeRun(this.deps, this.run, 'stopped', { detail, planFence });
  }

  private async start(warnings: readonly string[]): Promise<void> {
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
    // The plan is complete and its targets may already be acted on. An error from here on does not fail the
    // plan.
    await this.begin().catch((error: unknown) =>
      this.deps.log.warn(
        { run: this.run.id, err: error },
        'the targets of a new plan could not be released; the supervisor releases them',
      ),
    );
  }

  private async begin(): Promise<void> {
    await admitAccount(this.deps, this.run.account);
    await dispatch(this.deps, this.run.account);
    await finishIfDone(this.deps, this.run.id);
  }
}
