/**
 * Makes a plan from its candidates and stores it part by part, under the fence of this attempt.
 *
 * A part ends between two items of the list (with `select.for_each`, of that list), and is stored with the position
 * there in one script. The result of an item is stored as soon as requests were sent for it. So an attempt that
 * continues an interrupted one repeats the requests of one page at most, or those of one item of `for_each`. What the
 * job prepares and the lists that are joined are read again.
 */

import type { Incomplete, ListPosition } from '../../client/pages.ts';
import { defined } from '../../defined.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Group } from '../../records/group-places.ts';
import type { Continued, Processed } from '../../records/plan-store.ts';
import type { PlannedTarget } from '../../records/planned-store.ts';
import type { Excluded } from '../../records/target-types.ts';
import type { Run, StepEnd, Target } from '../../run/run.ts';
import { concluded } from '../act/decide.ts';
import type { EngineDeps, Spending } from '../deps.ts';
import { concludeRun, dispatch, finishIfDone } from '../finish-run.ts';
import { leftByWindow } from '../job-api.ts';
import { advance, approvalWanted as noticeOfApproval } from '../rollout/advance.ts';
import { firstStep } from '../rollout/first-step.ts';
import { approvalWanted } from '../rollout/place.ts';
import { admitAccount } from '../supervise/block.ts';
import { endUnstarted } from '../supervise/end-unstarted.ts';
import { candidates, toolsOf } from './candidates.ts';
import { Directory, lookUpNames, withNames } from './directory.ts';
import { countAll } from './listing.ts';
import { excessiveChange, isUnattended, startedByPerson } from './max-change.ts';
import { GroupCounts, withPlaces } from './owners.ts';
import { callOptionsOf, type EarlierPlan, type Planned, type Planning } from './planning.ts';
import { recheck } from './recheck.ts';
import { incompleteNoted, isGrave, type Said, type Seen, Selection, withIncomplete } from './selection.ts';

interface Stored {
  site?: string;
  recordSite?: string;
  jobState?: string;
  steps?: readonly StepEnd[];
  step?: number;
  inBatches?: readonly number[];
  told?: readonly string[];
}

/** The fields that the plan stores for a target in addition to its id and label. */
const storedFields = ({ site, recordSite, jobState, steps = [], step, inBatches, told }: Stored) => ({
  ...defined({ site, recordSite, jobState }),
  ...(steps.length === 0 ? {} : { steps: [...steps] }),
  ...defined({ ofStep: step }),
  ...(inBatches ? { inBatches: [...inBatches] } : {}),
  ...(told ? { told: [...told] } : {}),
});

const PAGE = 100;

/**
 * The duration over which a run starts its targets. A person waits for a manual run, so it starts them at
 * once.
 */
const spreadOf = ({ schedule }: Policy, { trigger }: Run): number | undefined =>
  trigger === 'manual' || trigger === 'retry' ? undefined : schedule?.spreadMs;

/** Another attempt at planning has begun: this one is over. */
class OvertakenError extends Error {}

/** One attempt at planning. */
interface Attempt {
  /** Proves that it is the latest. */
  fence: number;
  /** What the attempt before has made. */
  continued?: Continued | undefined;
  earlierPlan?: EarlierPlan | undefined;
}

/** Which candidates the attempt before has planned. */
export async function earlierPlanOf(
  { records }: EngineDeps,
  run: Run,
  { only = [], job }: Pick<Planning, 'only' | 'job'>,
  { progress: { position, targets }, listed }: Continued,
): Promise<EarlierPlan> {
  const planned: string[] = [];
  for (let first = 0; first < only.length; first += PAGE) {
    const page = await records.targets.many(run.id, only.slice(first, first + PAGE));
    planned.push(...page.map(({ id }) => id));
  }
  const selected: string[] = [];
  if (job.extraTargets && only.length === 0)
    for await (const { id } of records.targets.all(run.id)) selected.push(id);
  return { position, given: listed, targets, planned, selected };
}

export class PlanBuilder {
  private targets: Target[] = [];
  private excluded: Excluded[] = [];
  private groups = new Map<string, readonly Group[]>();
  /** The names of the items that were processed since the progress was stored. */
  private listed: string[] = [];
  /** Whether requests were sent since then. */
  private hasSpent = false;
  private planned = new Map<string, PlannedTarget>();
  private serviceNow: number | undefined;
  private readonly fence: number;
  private readonly earlierPlan: EarlierPlan | undefined;
  private readonly seen: Seen | undefined;
  private readonly groupCounts: GroupCounts;
  /** The lists that are known to be incomplete. */
  private readonly incomplete = new Map<string, Incomplete>();
  private excludedCount: number;
  private targetCount: number;
  private planning: Planning;
  private selection: Selection;
  private readonly directory: Directory;

  constructor(
    private readonly deps: EngineDeps,
    private readonly run: Run,
    planning: Planning,
    private readonly spent: Spending,
    { fence, continued, earlierPlan }: Attempt,
  ) {
    const { progress } = continued ?? {};
    this.fence = fence;
    this.planning = {
      ...planning,
      ...(progress ? { now: progress.now, views: { left: progress.viewsLeft } } : {}),
      onRequest: (operation) => {
        this.hasSpent = true;
        planning.onRequest(operation);
      },
    };
    this.earlierPlan = earlierPlan;
    this.seen = progress?.seen;
    this.targetCount = progress?.targets ?? 0;
    this.excludedCount = continued?.excluded ?? 0;
    this.groupCounts = new GroupCounts(planning.policy.limits, continued?.counts);
    this.planning.onIncomplete = incompleteNoted(isGrave(planning.job, planning.policy), this.incomplete);
    this.directory = new Directory(planning.client, callOptionsOf(this.planning), this.planning.onIncomplete);
    this.selection = new Selection(planning.policy, planning.job, this.directory);
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
    this.selection = new Selection(withNames(policy, names), job, directory, this.seen);
    this.planning = {
      ...this.planning,
      policy: withNames(policy, names),
      onCandidate: this.selection.see,
      onParent: this.selection.seeParent,
      onPushed: this.selection.seePushed,
    };
    await this.selection.require(this.planning);
  }

  async build(): Promise<void> {
    const { run } = this;
    let tooMany: string | undefined;
    let said: Said = { warnings: [], remarks: [] };
    try {
      await this.replaceNames();
      for await (const planned of this.allPlanned()) {
        this.note(planned);
        tooMany = this.exceededLimit(planned);
        if (tooMany !== undefined) break;
        // An item of `for_each` can become many targets. Any other is processed with the next.
        if (this.held >= 2 * PAGE) await this.store();
      }
      // A saved plan was compared with the limits, and its warnings were shown, when it was made.
      if (run.planHash === undefined) {
        tooMany ??= await this.exceededPercent();
        if (tooMany === undefined) said = await this.selection.check(this.planning);
        const change = await this.excessiveChange();
        if (change !== undefined && this.stopsOnChange())
          tooMany ??= `${change} ${startedByPerson(run.policy)}`;
        else if (change !== undefined) said = { ...said, warnings: [change, ...said.warnings] };
      }
      await this.store();
    } catch (error) {
      if (error instanceof OvertakenError) return;
      throw error;
    } finally {
      await this.countRequests();
    }
    if (tooMany !== undefined) await this.stop(tooMany);
    else await this.start(withIncomplete(said, [...this.incomplete.values()]));
  }

  /** What becomes of each candidate; or of each target of the saved plan that the run applies. */
  private allPlanned(): AsyncGenerator<Planned> {
    const { only } = this.planning;
    const { planHash, decidedAt } = this.run;
    if (planHash === undefined || !decidedAt || !only) {
      const onServiceNow = (serviceNow: number) => {
        this.serviceNow = serviceNow;
      };
      const facts = this.run.keepsFacts ? ({ withFacts: true } as const) : {};
      const { earlierPlan } = this;
      const onProcessed = (name: string, position: ListPosition) => this.noteProcessed(name, position);
      return candidates({ ...this.planning, ...facts, onServiceNow, onProcessed, earlierPlan });
    }
    return this.appliedTargets(planHash, decidedAt, only);
  }

  private async *appliedTargets(
    hash: string,
    decidedAt: NonNullable<Run['decidedAt']>,
    only: readonly string[],
  ): AsyncGenerator<Planned> {
    const { planned } = this.deps.records;
    const before = (ids: readonly string[]) => planned.saved(hash, ids);
    for await (const { now, was } of recheck({ ...this.planning, only }, decidedAt, before)) {
      if (now.is === 'target') this.planned.set(now.id, was);
      yield now;
    }
  }

  /** Adds a candidate to the plan. */
  private note(planned: Planned): void {
    const { id, label } = planned;
    if (planned.is === 'target' && planned.facts && !this.planned.has(id)) {
      const { jobState, facts } = planned;
      this.planned.set(id, { label, ...defined({ jobState }), facts });
    }
    if (planned.is === 'excluded') this.excluded.push({ id, label, why: planned.why });
    else {
      const target: Target = { id, label, state: 'pending', fence: 0, attempts: 0, waits: 0 };
      if (planned.is === 'target') {
        if (!planned.takesBack) this.targetCount += 1;
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

  private async countRequests(): Promise<void> {
    const { run, fence, targetCount: targets } = this;
    await this.deps.records.plans.note(run.id, fence, { spent: this.spent.take(), targets });
  }

  private get held(): number {
    return this.targets.length + this.excluded.length;
  }

  /** Everything that becomes of an item has been noted. */
  private async noteProcessed(name: string, position: ListPosition): Promise<void> {
    this.listed.push(name);
    if (this.hasSpent || this.held >= PAGE) await this.store(this.processed(position));
  }

  /** How far the plan is made: what has been noted ends between two items of the list. */
  private processed(position: ListPosition): Processed {
    const { planning, targetCount: targets, selection, listed } = this;
    const { now, views } = planning;
    const progress = {
      ...{ position, now, targets, seen: selection.seen, viewsLeft: views.left },
    };
    this.listed = [];
    this.hasSpent = false;
    return { progress, listed, counts: this.groupCounts.changes() };
  }

  /** @throws {OvertakenError} */
  private async store(processed?: Processed): Promise<void> {
    const { targets, excluded, groups, planned, excludedCount: excludedBefore } = this;
    [this.targets, this.excluded, this.groups, this.planned] = [[], [], new Map(), new Map()];
    this.excludedCount += excluded.length;
    const { records } = this.deps;
    // Before the targets: none of them is ever without what was planned for it.
    await records.planned.add(this.run.id, this.fence, planned);
    const addition = { groups, excluded, excludedBefore, processed };
    if (!(await records.plans.add(this.run.id, this.fence, targets, addition))) throw new OvertakenError();
    await this.countRequests();
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

  /** The message about `limits.max_change`, for a run of everything that the policy selects. */
  private async excessiveChange(): Promise<string | undefined> {
    const { policy, job, only } = this.planning;
    return only ? undefined : excessiveChange(this.deps, policy, job, this.targetCount);
  }

  /** A run that a person started, or that waits for an approval, goes on with a warning. */
  private stopsOnChange(): boolean {
    const { policy, job } = this.planning;
    return isUnattended(this.run) && !approvalWanted(policy, job, this.targetCount);
  }

  private async stop(detail: string): Promise<void> {
    const { records } = this.deps;
    const planFence = this.fence;
    await records.runs.end(this.run, 'safety-limit', detail);
    await endUnstarted(this.deps, { ...this.run, ending: 'safety-limit' });
    await concludeRun(this.deps, this.run, 'stopped', { detail, planFence });
  }

  private async start({ warnings, remarks }: Said): Promise<void> {
    const { records, clock, log } = this.deps;
    const detail = warnings.join(' ');
    if (detail !== '') {
      await records.runs.note(this.run.id, detail);
      log.warn({ run: this.run.id }, detail);
    } else if (this.run.detail !== undefined) await records.runs.clearDetail(this.run.id);
    if (remarks.length > 0 || this.run.remarks) await records.planned.noteRemarks(this.run.id, remarks);
    const at = clock.now();
    if (!this.run.decidedAt) {
      const { now } = this.planning;
      await records.planned.noteDecided(this.run.id, { at: now, serviceAt: this.serviceNow ?? now });
    }
    const ms = spreadOf(this.planning.policy, this.run);
    const first = await leftByWindow(this.deps, this.planning.policy, this.run);
    const spread = ms === undefined ? undefined : { from: at, ms };
    if (spread || first.length > 0) await records.plans.order(this.run.id, this.fence, { spread, first });
    const change = { at, planComplete: true, planFence: this.fence } as const;
    const begin = await firstStep(this.deps, this.run, this.fence, this.planning, this.targetCount);
    if (!begin) return;
    const { to, step, run: waiting } = begin;
    const notice = waiting && noticeOfApproval(waiting, step?.approvals?.length ?? 1, at);
    if (!(await records.runs.move(this.run, to, { ...change, ...(step && { step }), notice }))) return;
    if (waiting) log.info({ run: this.run.id }, 'a run waits for an approval');
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
    await advance(this.deps, this.run.id);
    await dispatch(this.deps, this.run.account);
    await finishIfDone(this.deps, this.run.id);
  }
}
