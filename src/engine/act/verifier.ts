/**
 * Shows, before a change that cannot be undone, that what it rests on was seen just now (`recheck.max_age`).
 *
 * One look covers the targets of the run that come next as well, and counts for all of them until it is too old. So a
 * run with many such changes costs a few requests in each quarter of a minute, and not one for each change.
 */
import type { OperationId } from '../../contract/operations.ts';
import type { AnyJob } from '../../job/job.ts';
import type { Registry } from '../../job/registry.ts';
import { verifiedOperations } from '../../job/verify.ts';
import type { Policy } from '../../policy/policy.ts';
import { jobOf } from '../../policy/policy-job.ts';
import { RECHECK_MAX_AGE_MS } from '../../policy/to-policy.ts';
import type { Run, Target } from '../../run/run.ts';
import { stepOf } from '../../run/steps.ts';
import type { EngineDeps } from '../deps.ts';
import { type CreatedAt, verifyTargets } from '../plan/verify-targets.ts';

/** How many targets one look covers: a page of a list. */
const MAX_TARGETS = 100;
/** How many runs are kept in mind. With more at a time, some look once more. */
const MAX_RUNS = 200;

/** What is known of the targets of a run. */
interface Looked {
  /** What differs for each target, and when the look at it began. */
  seen: Map<string, { at: number; differs: string | undefined }>;
  createdAt: CreatedAt;
  /** When its planning began, once that is known: planning reads everything. */
  plannedAt?: number | undefined;
}

type ActingRun = Pick<Run, 'id'> & { readonly policy: Policy };

export class Verifier {
  private readonly runs = new Map<string, Looked>();
  /** The looks under way, by run. */
  private readonly looking = new Map<string, Promise<void>>();

  constructor(
    private readonly deps: EngineDeps,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * What differs from what this change of the target rests on; undefined when nothing does, and for a change that is
   * not verified. `repeats`: an earlier request may have had the effect already. Usually costs nothing; else what
   * `verifyTargets` costs, for up to 100 targets at once.
   *
   * @throws the client's errors; nothing may be sent then.
   */
  async differs(
    run: ActingRun,
    job: AnyJob,
    target: Target,
    { operation, repeats }: { operation: OperationId; repeats: boolean },
  ): Promise<string | undefined> {
    if (!isVerified({ policy: run.policy, job, registry: this.deps.registry }, target, operation))
      return undefined;
    const maxAgeMs = run.policy.recheck?.maxAgeMs ?? RECHECK_MAX_AGE_MS;
    const askedAt = this.deps.clock.now();
    if (repeats) return this.differsBeside(run.id, target);
    const looked = this.lookedAt(run.id);
    // Where the clock went back, it is not known how long ago a later time was.
    const isWithin = (at: number, from: number, to: number) => from <= at && at <= to;
    // Also for a run that applies a plan of an earlier time.
    const isJustPlanned = () => isWithin(looked.plannedAt ?? 0, askedAt - maxAgeMs, askedAt);
    for (;;) {
      const known = looked.seen.get(target.id);
      const now = this.deps.clock.now();
      // What was read after it was asked for is as new as it can be, however long the service took.
      if (known && isWithin(known.at, Math.min(askedAt, now - maxAgeMs), now)) return known.differs;
      if (!this.looking.has(run.id)) {
        if (isJustPlanned()) return undefined;
        const whole = await this.deps.records.runs.get(run.id);
        looked.plannedAt = whole?.startedAt;
        if (isJustPlanned()) return undefined;
        if (!this.looking.has(run.id)) this.begin(whole, run.id, target, looked);
      }
      await this.looking.get(run.id);
    }
  }

  /** What differs beside the items that the lost request may have changed itself. */
  private async differsBeside(id: string, target: Target): Promise<string | undefined> {
    const { deps, signal } = this;
    const run = await deps.records.runs.get(id);
    const found =
      run && (await verifyTargets(deps, run, [target], { createdAt: new Map(), signal, besideItems: true }));
    return found?.get(target.id);
  }

  private begin(run: Run | undefined, id: string, target: Target, looked: Looked): void {
    this.looking.set(
      id,
      this.look(run, target, looked).finally(() => this.looking.delete(id)),
    );
  }

  private lookedAt(run: string): Looked {
    const known = this.runs.get(run) ?? { seen: new Map(), createdAt: new Map() };
    this.runs.delete(run);
    this.runs.set(run, known);
    const [oldest] = this.runs.keys();
    if (oldest !== undefined && this.runs.size > MAX_RUNS) this.runs.delete(oldest);
    return known;
  }

  private async look(run: Run | undefined, target: Target, { seen, createdAt }: Looked): Promise<void> {
    if (!run) {
      seen.set(target.id, { at: this.deps.clock.now(), differs: 'The run is no longer recorded.' });
      return;
    }
    const at = this.deps.clock.now();
    const targets = await this.nextOf(run.id, target);
    const differences = await verifyTargets(this.deps, run, targets, { createdAt, signal: this.signal });
    for (const [id, differs] of differences) seen.set(id, { at, differs });
    // A process that does not know the job (any more) makes no change.
    if (!seen.has(target.id)) seen.set(target.id, { at, differs: 'It could not be looked at again.' });
  }

  /** The target, and those of the run whose changes come next. */
  private async nextOf(run: string, target: Target): Promise<Target[]> {
    const { targets } = this.deps.records;
    const next = new Map([[target.id, target]]);
    for (const state of ['acting', 'waiting', 'following'] as const)
      for (const one of await targets.inState(run, state, MAX_TARGETS))
        if (!next.has(one.id)) next.set(one.id, one);
    for (const one of await targets.pending(run, MAX_TARGETS)) if (!next.has(one.id)) next.set(one.id, one);
    return [...next.values()].slice(0, MAX_TARGETS);
  }
}

/**
 * Changes of what belongs to a site but is not shown with it: after them, the items of lists show what they showed
 * before.
 */
const besideItems: ReadonlySet<OperationId> = new Set([
  'createSiteNote',
  'updateSiteNote',
  'deleteSiteNote',
  'createSiteCustomWorks',
  'updateSiteCustomWork',
  'deleteSiteCustomWork',
  'createReport',
  'sendReportEmail',
  'startSiteBackupDownload',
  'startSiteBackupUpload',
  'downloadStagingSite',
]);

/**
 * Whether a change of a target is verified. Of a policy with several steps that makes such a change, the first change
 * of a target is verified too. After a step that may have changed the items themselves, a difference can be its own
 * work: then nothing is compared.
 */
function isVerified(
  { policy, job, registry }: { policy: Policy; job: AnyJob; registry: Pick<Registry, 'get'> },
  target: Target,
  operation: OperationId,
): boolean {
  const operations = verifiedOperations(job, policy.options);
  const isOne = operations === 'all' || operations.includes(operation);
  if (!policy.steps) return isOne;
  const before = policy.steps.slice(target.ofStep ?? 0, stepOf(target));
  const isBeside = before.every((step, at) => {
    const changes = registry.get(step.job)?.changes?.((policy.options as readonly unknown[])[at] as never);
    return changes?.every((one) => besideItems.has(one)) ?? false;
  });
  return isBeside && (isOne || (operations.length > 0 && !target.changed));
}

/** Whether a run of this policy may make a change that is verified, and its plan has to store what it rests on. */
export function needsFacts(policy: Policy, registry: EngineDeps['registry']): boolean {
  const job = jobOf(registry, policy);
  return job !== undefined && !job.verify && verifiedOperations(job, policy.options).length > 0;
}
