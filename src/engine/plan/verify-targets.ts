/**
 * Looks again at targets of a run whose changes are about to be made: whether the policy still selects them, and
 * whether what their changes rest on is as it was planned.
 *
 * The selection is decided as of the time at which the plan was made, so whatever comes out otherwise is due to a
 * change in the account. A field that is not shown any more is not taken for unchanged.
 */
import { GoneError, RejectedError } from '../../client/errors.ts';
import { refuseIncomplete } from '../../client/pages.ts';
import { ExpressionError } from '../../expression/expression.ts';
import { NotShownError, orNotShown } from '../../expression/fields.ts';
import { isList, parentIdIn } from '../../job/candidates.ts';
import type { AnyJob, Items } from '../../job/job.ts';
import { listDeclared, sourceOf } from '../../job/source.ts';
import type { Verification, Verified } from '../../job/verify.ts';
import { compileWhereOf } from '../../policy/where.ts';
import type { Run, Target } from '../../run/run.ts';
import { stepOf } from '../../run/steps.ts';
import { type EngineDeps, Spending } from '../deps.ts';
import { createJobApi, readOnlyCall, runContextOf } from '../job-api.ts';
import { createIdentify, toolsOf } from './candidates.ts';
import { Reads } from './facts.ts';
import { Joined } from './joined.ts';
import { completeParent, type ListingTools, listCandidates, type Parent, withinParent } from './listing.ts';
import { type CreatedWithin, callOptionsOf, type Planned, type Planning, takesAll } from './planning.ts';
import { planningOf } from './planning-of-run.ts';
import { formatDifferences, recheck } from './recheck.ts';

/** How many targets that the list does not show any more are requested by their ids, to see what changed. */
const MAX_EXPLAINED = 10;
/** The times of creation are compared by the service, which may store whole seconds. */
const CREATED_MARGIN_MS = 2_000;

type Differences = Map<string, string | undefined>;

/** When items were created, by their ids, as far as lists have shown it. */
export type CreatedAt = Map<string, string>;

/**
 * What differs for each of these targets from what its change rests on; undefined where nothing does. `besideItems`: only
 * what the job reads beside the items of the targets.
 *
 * Costs what the job's `verify` costs; and, where the selection or the job needs the items, one request per 100
 * candidates of the policy until all targets are found (per 100 between the first and the last target, once
 * `createdAt` knows when they were created), and those of the joined lists. Counted for the run.
 *
 * @throws the client's errors; `BudgetSpentError` when the window of the budget has nothing left.
 */
export async function verifyTargets(
  deps: EngineDeps,
  run: Run,
  targets: readonly Target[],
  {
    createdAt,
    signal,
    besideItems = false,
  }: { createdAt: CreatedAt; signal: AbortSignal; besideItems?: boolean },
): Promise<Differences> {
  const spent = new Spending();
  const ids = targets.map(({ id }) => id);
  const made = await planningOf(deps, run, { only: ids, spent, signal });
  if (!made) return new Map();
  const at = run.decidedAt ?? { at: run.createdAt, serviceAt: run.createdAt };
  const created = createdWithin(ids, createdAt);
  const planning: Planning & { only: readonly string[] } = {
    ...made,
    only: ids,
    now: at.at,
    again: { serviceNow: at.serviceAt, ...(created && { createdWithin: created }) },
    whenSpent: 'leave',
    onIncomplete: refuseIncomplete,
    onCandidate: (item) => noteCreated(item, createdAt),
  };
  try {
    if (planning.job.verify) return await new Verifying(planning, targets, besideItems).read();
    const unbegun = targets.filter(({ partlyDone }) => !partlyDone).map(({ id }) => id);
    const differences: Differences = new Map(ids.map((id) => [id, undefined]));
    return besideItems || unbegun.length === 0
      ? differences
      : await planAgain(deps, run, { ...planning, only: unbegun }, at, differences);
  } finally {
    await deps.records.runs.countRequests(run.id, spent.take());
  }
}

function noteCreated(item: unknown, createdAt: CreatedAt): void {
  const { id, created_at } = item as { id?: unknown; created_at?: unknown };
  if (typeof id === 'string' && typeof created_at === 'string') createdAt.set(id, created_at);
}

/** Undefined when it is not known of one of them. */
function createdWithin(ids: readonly string[], createdAt: CreatedAt): CreatedWithin | undefined {
  const times = ids.map((id) => Date.parse(createdAt.get(id) ?? ''));
  if (times.length === 0 || times.some(Number.isNaN)) return undefined;
  const textOf = (time: number) => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    gte: textOf(Math.min(...times) - CREATED_MARGIN_MS),
    lte: textOf(Math.max(...times) + CREATED_MARGIN_MS),
  };
}

/** For a job that cannot say what its changes rest on: the plan of targets that have begun nothing, made again. */
async function planAgain(
  { records }: EngineDeps,
  run: Run,
  planning: Planning & { only: readonly string[] },
  decidedAt: NonNullable<Run['decidedAt']>,
  differences: Differences,
): Promise<Differences> {
  const before = (some: readonly string[]) => records.planned.ofRun(run.id, some);
  for await (const { now } of recheck(planning, decidedAt, before))
    differences.set(now.id, now.is === 'target' ? undefined : now.end.detail);
  return differences;
}

class Verifying {
  private readonly differences: Differences = new Map();
  private readonly tools: ListingTools;
  private readonly job: AnyJob;

  constructor(
    private readonly planning: Planning,
    private readonly targets: readonly Target[],
    private readonly besideItems: boolean,
  ) {
    this.job = planning.job;
    this.tools = toolsOf(planning);
  }

  async read(): Promise<Differences> {
    const all = this.targets.map((target) => this.verified(target));
    const verification = await this.verification(all);
    for (const { id } of all) this.differences.set(id, undefined);
    const items = all.filter((one) => !verification.takesBack?.(one));
    if (this.usesItems(verification)) await this.readItems(items, verification);
    else
      for (const one of items)
        this.differences.set(
          one.id,
          saidBy(() => verification.differs(one, undefined)),
        );
    return this.differences;
  }

  /** Whether the job or the selection of the policy needs the items of the targets. */
  private usesItems({ readsItems = false }: Verification<unknown>): boolean {
    const { where, filters, forEach } = this.planning.policy.select;
    if (this.besideItems) return false;
    const selects = where !== undefined || forEach !== undefined || Object.keys(filters).length > 0;
    return readsItems || (selects && !takesAll(this.planning));
  }

  private async readItems(
    targets: readonly Verified<unknown>[],
    verification: Verification<unknown>,
  ): Promise<void> {
    const { planning, differences } = this;
    const joined = await Joined.read(planning);
    const identify = createIdentify(planning);
    const left = new Map(targets.map((one) => [one.id, one]));
    const unread = new Map<string, string>();
    for await (const listed of listCandidates(planning, this.tools)) {
      if (listed.is === 'unread') unread.set(listed.planned.id, whyUnread(listed.planned));
      if (listed.is !== 'candidate') continue;
      const { item, parent } = listed;
      planning.onCandidate?.(item);
      const { id } = identify(item, parent);
      const one = left.get(id);
      if (one) differences.set(id, await this.judge(item, parent, { one, joined, verification }));
      left.delete(id);
      if (left.size === 0) break;
    }
    let explained = 0;
    for (const id of left.keys()) {
      const why = unread.get(parentIdIn(id) ?? id);
      if (why === undefined) explained += 1;
      differences.set(id, why ?? (explained <= MAX_EXPLAINED ? await this.explain(id) : NOT_LISTED));
    }
  }

  private verified({ jobState, ...target }: Target): Verified<unknown> {
    const state: unknown = jobState === undefined ? undefined : JSON.parse(jobState);
    return {
      id: target.id,
      step: stepOf(target),
      state: state === undefined ? undefined : this.job.state?.parse(state),
    };
  }

  private async verification(targets: readonly Verified<unknown>[]): Promise<Verification<unknown>> {
    const { planning, job } = this;
    const { policy, client, at } = planning;
    const options = callOptionsOf(planning);
    const source = sourceOf(job, policy.select);
    const related = (job.related ?? []).length > 0;
    const found = await job.verify?.({
      ...createJobApi(client, options, readOnlyCall(client, options), planning.onIncomplete),
      options: policy.options,
      source,
      runContext: runContextOf(policy, at),
      plannedAt: planning.again?.serviceNow ?? planning.now,
      targets,
      usesRelated: related && policy.select.where !== undefined,
    });
    return found ?? { differs: () => undefined };
  }

  /** What differs for a target whose item the list shows. */
  private async judge(
    listed: unknown,
    parent: Parent | undefined,
    about: { one: Verified<unknown>; joined: Joined; verification: Verification<unknown> },
  ): Promise<string | undefined> {
    const { policy } = this.planning;
    const { from, subject, parent: of } = sourceOf(this.job, policy.select);
    const { forEach } = policy.select;
    let item = listed;
    let found = this.judgeShown(item, parent, about);
    if (of && parent && isAbout(found, of.subject)) {
      await completeParent(parent, of.list, this.tools.complete);
      found = this.judgeShown(item, parent, about);
    }
    if (isList(from) && isAbout(found, subject)) {
      item = await this.tools.complete(from, item, forEach && parent ? withinParent(forEach, parent) : {});
      found = this.judgeShown(item, parent, about);
    }
    return found instanceof NotShownError ? found.message : found;
  }

  private judgeShown(
    item: unknown,
    parent: Parent | undefined,
    {
      one,
      joined,
      verification,
    }: { one: Verified<unknown>; joined: Joined; verification: Verification<unknown> },
  ): string | undefined | NotShownError {
    const { planning, job } = this;
    const { select } = planning.policy;
    const { subject, parent: of } = sourceOf(job, select);
    const judged = (): string => {
      const own = { ...(of && parent ? { [of.subject]: parent.item } : {}), [subject]: item };
      const items: Items = { ...verification.relate?.(item), ...own, ...joined.partnersOf(own) };
      if (select.where !== undefined && !takesAll(planning)) {
        const reads = new Reads();
        const observed = Object.fromEntries(
          Object.entries(items).map(([name, value]) => [name, reads.observe(name, value)]),
        );
        const at = new Date(planning.again?.serviceNow ?? planning.now);
        if (!compileWhereOf(job, select, select.where).test(observed, at))
          return `select.where no longer holds: ${shownNow(reads.facts())}`;
      }
      return verification.differs(one, items) ?? '';
    };
    const found = orNotShown(() => {
      try {
        return judged();
      } catch (error) {
        // It has no answer any more, as when its live site has left the account: that is no reason to go on.
        if (error instanceof ExpressionError) return error.message;
        throw error;
      }
    });
    return found === '' ? undefined : found;
  }

  /** Why the list does not show a target any more. One request, where the list can be asked for an id. */
  private async explain(id: string): Promise<string> {
    const { planning, job } = this;
    const { select } = planning.policy;
    const { from, subject } = sourceOf(job, select);
    const declared = listDeclared(from);
    if (select.forEach || !isList(from) || !declared?.filters['id']?.operators.includes('eq'))
      return NOT_LISTED;
    const { createdWithin: _, ...again } = planning.again ?? { serviceNow: planning.now };
    const open: Planning = { ...planning, only: [id], again: { ...again, withoutFilters: true } };
    try {
      for await (const listed of listCandidates(open, this.tools)) {
        if (listed.is !== 'candidate') continue;
        const reads = new Reads();
        reads.observe(subject, listed.item);
        for (const field of Object.keys(select.filters)) {
          const shows = declared.filters[field]?.shows;
          if (shows !== undefined) reads.add(subject, shows.split('.'));
        }
        return `The filters of the policy no longer select it: ${shownNow(reads.facts())}`;
      }
    } catch (error) {
      if (!(error instanceof GoneError || error instanceof RejectedError)) throw error;
    }
    return 'It is no longer in the account.';
  }
}

const isAbout = (found: unknown, variable: string): boolean =>
  found instanceof NotShownError && found.field.startsWith(`${variable}.`);

const whyUnread = (planned: Planned): string =>
  (planned.is === 'ended' ? planned.end.detail : undefined) ??
  'The policy no longer selects what it belongs to.';

const NOT_LISTED = 'The service no longer lists it for this policy.';

/** `site.tags: [{"name":"keep"}]`: what the service shows now. */
const shownNow = (facts: Readonly<Record<string, unknown>>): string =>
  formatDifferences(Object.entries(facts).map(([field, to]) => ({ field, to }))).replaceAll(
    'not shown → ',
    '',
  );

/** What differs, also where a field that decides is not shown. */
function saidBy(differs: () => string | undefined): string | undefined {
  const found = orNotShown(() => differs() ?? '');
  return found instanceof NotShownError ? found.message : found || undefined;
}
