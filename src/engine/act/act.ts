/**
 * Executes one step on one target: claims the target, reconciles an intent that an earlier step left without
 * a result, runs the job and writes the decision.
 *
 * The order gives the guarantee of docs/adr/0004. The intent is written, under a valid fence, before the request is sent.
 * The result is written after the answer. A step that finds an intent without a result reconciles before it acts.
 */
import type { CallOptions } from '../../client/call-options.ts';
import type { Client } from '../../client/client.ts';
import { GoneError, RejectedError, UnavailableError, UnreadableError } from '../../client/errors.ts';
import { refuseIncomplete } from '../../client/pages.ts';
import { requestOf } from '../../contract/input.ts';
import { type OperationId, operationOf } from '../../contract/operations.ts';
import { AccountMovedError } from '../../contract/service-address.ts';
import { defined } from '../../defined.ts';
import type { Acting, AnyJob } from '../../job/job.ts';
import { effectIdsIn, isOnce } from '../../job/reconcile/find-effect.ts';
import { watchKindOf } from '../../job/registry.ts';
import type { Policy } from '../../policy/policy.ts';
import { jobOf } from '../../policy/policy-job.ts';
import type { Effect } from '../../records/effect-store.ts';
import type { Dispatched } from '../../records/target-types.ts';
import type { Intent, Run, Target, TargetIn } from '../../run/run.ts';
import { stepOf } from '../../run/steps.ts';
import { isWindowOver } from '../deadline.ts';
import { type EngineDeps, Spending, serves } from '../deps.ts';
import { namingStep } from '../explain-end.ts';
import { createJobApi, runContextOf } from '../job-api.ts';
import { blockAccount } from '../supervise/block.ts';
import { type Decision, decide, type StepResult } from './decide.ts';
import {
  ChangedError,
  FencedError,
  inTransitMs,
  NotPlannedError,
  plannedPosition,
  provesAbsence,
  RunCancelledError,
} from './errors.ts';
import { type Claims, ownerOf, ownOf } from './ownership.ts';
import { type Acted, encodeAnswer, RequestLog } from './report-act.ts';
import type { Verifier } from './verifier.ts';

/**
 * A request must be sent within this time after its intent was recorded, or not at all. So a process that was
 * suspended does not send it late.
 */
const SEND_TIMEOUT_MS = 5_000;
/** The fields of a run that never change. They are read once for all of its targets. */
export interface ActingRun extends Pick<Run, 'id' | 'account' | 'address' | 'job' | 'windowEndsAt'> {
  /** The time that texts and periods count from. */
  readonly at: number;
  /** It applies a saved plan: each target may send what was planned for it, and nothing else. */
  readonly isPlanned: boolean;
  readonly policy: Policy;
}

/**
 * Acts on one target and returns it as it was written, with what was done. Returns undefined when the dispatch is
 * outdated, or when this worker lost the target. Costs the requests of the job, plus the reads of a reconcile. When
 * `stopping` aborts, the step no longer waits for answers; the next worker on the target reconciles the request.
 */
export async function act(
  deps: EngineDeps,
  run: ActingRun,
  dispatched: Dispatched,
  { claims, verifier, stopping }: { claims: Claims; verifier: Verifier; stopping: AbortSignal },
): Promise<Acted | undefined> {
  // The target stays unclaimed, so an entry for it is queued again. It can then reach a process that knows the
  // account and the job.
  const job = jobOf(deps.registry, run.policy);
  if (!serves(deps, run) || !job) return undefined;
  const now = deps.clock.now();
  const claimed = await deps.records.targets.claim(run, dispatched, now);
  if (!claimed) return undefined;
  const ending = claimed.ending ?? (isWindowOver(run, now) ? 'window-over' : undefined);
  const step = new Step(deps, run, job, claimed.target, ending, verifier, stopping);
  claims.hold(step);
  try {
    const decision = await step.execute();
    return decision && (await step.write(decision));
  } finally {
    await claims.release(step);
  }
}

class Step {
  private readonly spent = new Spending();
  private readonly requests = new RequestLog();
  /** Whether the service was answering no request when the last call was made. */
  private duringOutage = false;
  /** The effects of this step, according to the service's answers. */
  private effectsMade: readonly Effect[] = [];
  /** The run was cancelled, and the task that it started is cancelled too: that is no part of a plan. */
  private cancelsTask = false;
  /** A request that is safe to repeat and may have had its effect already: what differs now can be that effect. */
  private repeats: string | undefined;
  /** Another worker has the target: nothing more is sent. */
  private isLost = false;
  /** As claimed, plus the intent that this step records. */
  private target: TargetIn<'acting'>;

  constructor(
    private readonly deps: EngineDeps,
    private readonly run: ActingRun,
    private readonly job: AnyJob,
    private readonly claimed: TargetIn<'acting'>,
    /** Why the run was cancelled, if it was when the target was claimed. */
    private readonly ending: Run['ending'],
    private readonly verifier: Verifier,
    private readonly stopping: AbortSignal,
  ) {
    this.target = claimed;
  }

  /** Renews the claim, so that a long step is not mistaken for a step of a dead worker. */
  async renew(): Promise<void> {
    const { clock, records, log } = this.deps;
    const isRenewed = () => records.targets.renew(this.run.id, this.target, clock.now());
    try {
      // The first may be refused because this step has raised the fence at the same moment.
      this.isLost = !(await isRenewed()) && !(await isRenewed());
    } catch (error) {
      log.warn(
        { run: this.run.id, target: this.target.id, err: error },
        'the claim on a target could not be renewed',
      );
    }
  }

  /** The decision that follows from this step, or undefined when this worker lost the target. */
  async execute(): Promise<Decision | undefined> {
    const found = await this.resolve().catch((error: unknown): StepResult => ({ error }));
    if (!('error' in found)) return this.decide(found);
    const { error } = found;
    if (error instanceof FencedError) return undefined;
    if (error instanceof RunCancelledError) return this.whenCancelled();
    if (error instanceof NotPlannedError || error instanceof ChangedError)
      return this.changedSincePlan(error);
    // Of an account that has moved nothing was sent: the target is due again, for a process with the right address.
    const isInterrupted = this.wasInterrupted(error) || error instanceof AccountMovedError;
    return this.decide(isInterrupted ? { is: 'interrupted' } : found);
  }

  private changedSincePlan({ message }: Error): Promise<Decision> {
    const done = this.target.partlyDone ? ' Some of its steps had already been done.' : '';
    return this.decide({ is: 'skipped', reason: 'changed-since-plan', detail: `${message}${done}` });
  }

  /** Whether the answer is missing because this process is stopping. */
  private wasInterrupted(error: unknown): boolean {
    const { aborted, reason } = this.stopping;
    return aborted && (error === reason || error instanceof UnavailableError);
  }

  /** The decision for a run that was cancelled during this step. */
  private async whenCancelled(): Promise<Decision> {
    const run = await this.deps.records.runs.get(this.run.id);
    return this.decide({ is: 'run-cancelled', ending: run?.ending ?? 'cancelled' });
  }

  private async decide(found: StepResult): Promise<Decision> {
    const countsAsAttempt = !('error' in found && (await this.isOutage(found.error)));
    const { retry, acceptRejections } = this.run.policy;
    const now = this.deps.clock.now();
    return decide(this.target, found, { now, retry, acceptRejections, countsAsAttempt });
  }

  /**
   * Whether a request failed because of an outage of the service. At the edges of an outage the time of the
   * request does not decide this: other requests were answered just before or just after. So another request
   * is sent to the service, unless the outage had already begun when the first one was sent.
   */
  private async isOutage(error: unknown): Promise<boolean> {
    if (!(error instanceof UnavailableError && error.sent)) return false;
    const told = { onRequest: this.spent.count, onSent: this.options().onSent };
    return this.duringOutage || !(await this.client.answers(told, this.stopping));
  }

  private async resolve(): Promise<StepResult> {
    if (this.target.taskCancel) return this.cancelTask();
    if (this.target.intent) {
      const answer = await this.reconcile(this.target.intent);
      if (answer) return answer;
    }
    if (this.ending) return { is: 'run-cancelled', ending: this.ending };
    const { attempts, detail } = this.target;
    if (attempts >= this.run.policy.retry.attempts) {
      const last = detail === undefined ? '' : ` Last error: ${detail}`;
      const all = attempts === 1 ? 'The only attempt failed.' : `All ${attempts} attempts failed.`;
      return { is: 'failed', reason: 'unavailable', detail: `${all}${last}` };
    }
    return encodeAnswer(this.job, await this.job.act(this.acting()));
  }

  /**
   * Cancels the followed task, because the run was cancelled. This is harmless to repeat, so a lost answer is
   * not reconciled. A task that has ended meanwhile is followed to that end.
   */
  private async cancelTask(): Promise<StepResult> {
    const { watch } = this.target;
    this.dropIntent();
    this.cancelsTask = true;
    try {
      if (watch) await this.deps.registry.watches.get(watch.kind)?.cancel?.(this.jobApi().api, watch);
    } catch (error) {
      if (!(error instanceof RejectedError || error instanceof GoneError)) throw error;
    }
    return { is: 'task-cancel-requested' };
  }

  /** Whether an effect whose answer was lost happened; undefined when it provably did not happen. */
  private async reconcile(intent: Intent): Promise<StepResult | undefined> {
    const found = await this.job.reconcile(this.acting(), intent);
    if (found.is === 'unknown') return { ...found, is: 'failed', reason: 'unknown-effect' };
    if (found.is !== 'absent') {
      this.noteChanged(intent.planned);
      return encodeAnswer(this.job, found);
    }
    const now = this.deps.clock.now();
    const leftMs = inTransitMs(intent, now, this.client.knownServiceTime(now));
    // Absent so far. Wait, without counting an attempt, until the lost request can no longer arrive.
    if (leftMs > 0) return { is: 'too-early', at: now + leftMs };
    if (intent.confirmed && isOnce(intent.operation as OperationId)) {
      const detail = `The service reported that ${intent.operation} was done, but the account does not show it.`;
      return { is: 'failed', reason: 'unknown-effect', detail };
    }
    if (!isOnce(intent.operation as OperationId)) this.repeats = intent.operation;
    this.dropIntent();
    return undefined;
  }

  private jobApi() {
    // What an incomplete list does not show is not absent.
    return createJobApi(
      this.client,
      this.options(),
      (operation, input, note) => this.call(operation, input, note),
      refuseIncomplete,
    );
  }

  private acting(): Acting<unknown> {
    const { id, label, jobState, ended, intent } = this.target;
    return {
      ...this.jobApi(),
      serviceTime: async (at) =>
        (at === intent?.at ? intent.serviceAt : undefined) ?? this.client.serviceTime(at, this.options()),
      ...ownOf(this.deps, this.run, this.target),
      target: { id, label },
      options: this.run.policy.options,
      runContext: runContextOf(this.run.policy, this.run.at),
      state: jobState === undefined ? undefined : this.job.state?.parse(JSON.parse(jobState)),
      step: stepOf(this.target),
      ...(ended ? { ended } : {}),
      now: this.deps.clock.now(),
    };
  }

  /** Options for one call. */
  private options(): CallOptions {
    let isFirst = true;
    return {
      requestClass: this.target.intent ? 'control' : 'action',
      policy: this.run.policy.name,
      whenSpent: 'leave',
      signal: this.stopping,
      onSent: this.deps.traces?.requestsOf({ run: this.run.id, target: this.target.id }),
      onRequest: (operation, { duringOutage = false }) => {
        if (this.isLost) throw new FencedError();
        // A read is retried when it fails. Only its first try shows whether the outage had begun before it.
        if (isFirst) this.duringOutage = duringOutage;
        isFirst = false;
        this.spent.count(operation);
      },
      onAnswer: this.requests.note,
    };
  }

  private get client(): Client {
    return this.deps.link(this.run.account).client;
  }

  private async call(id: OperationId, input: never, note?: string): Promise<unknown> {
    const { client } = this;
    const effect = operationOf(id).effect !== undefined;
    const options = this.options();
    if (!effect) return client.call(id, input, options);
    const allowed = this.target.taskCancel ? undefined : this.job.changes?.(this.run.policy.options);
    if (allowed && !allowed.includes(id))
      throw new Error(`The job ${this.job.name} does not declare that it calls ${id} ("changes").`);
    if (this.target.intent) throw new Error(`A job may have one effect per step; ${id} would be its second.`);
    const differs = this.cancelsTask
      ? undefined
      : await this.verifier.differs(this.run, this.job, this.target, {
          operation: id,
          repeats: this.repeats === id,
        });
    if (differs !== undefined) throw new ChangedError(differs);
    const planned = this.cancelsTask
      ? undefined
      : await plannedPosition(this.deps, this.run, this.target, requestOf(id, input));
    try {
      // The intent is recorded after the budget has granted the request, so that nothing slow lies between
      // intent and request. A request that got a 429 records its intent again when it is sent again.
      const answer = await client.call(id, input, {
        ...options,
        beforeSend: () => this.noteIntent(id, note, planned),
      });
      this.effectsMade = effectIdsIn(id, answer, input).map((effect) => ({ operation: id, id: effect }));
      this.noteChanged(planned);
      return answer;
    } catch (error) {
      if (provesAbsence(error)) this.dropIntent();
      // The service reported the change; only the rest of its answer cannot be read.
      if (error instanceof UnreadableError) this.noteChanged(planned);
      throw error;
    }
  }

  /** A request had its effect; `planned` is its position in the plan of the target, if it has one. */
  private noteChanged(planned: number | undefined): void {
    const { sent = [] } = this.target;
    this.target = {
      ...this.target,
      changed: true,
      ...(planned === undefined ? {} : { sent: [...sent, planned] }),
    };
  }

  /** Records the intent. Returns the time by which the request must be sent. */
  private async noteIntent(
    operation: OperationId,
    note: string | undefined,
    planned: number | undefined,
  ): Promise<number> {
    const { records, clock } = this.deps;
    const at = clock.now();
    const serviceAt = this.client.knownServiceTime(at);
    const intent = {
      operation,
      at,
      ...(serviceAt ? { serviceAt } : {}),
      ...defined({ note, planned }),
    };
    const { id, fence } = this.target;
    const newFence = await records.targets.noteIntent(this.run.id, { id, fence }, intent);
    if (newFence === 'fenced') throw new FencedError();
    if (newFence === 'run-cancelled') throw new RunCancelledError();
    this.target = { ...this.target, intent, fence: newFence };
    return intent.at + SEND_TIMEOUT_MS;
  }

  private dropIntent(): void {
    const { intent: _dropped, ...target } = this.target;
    this.target = target;
  }

  /** Writes the decision. Returns the target as written, or undefined when this worker lost it. */
  async write(decision: Decision): Promise<Acted | undefined> {
    const { records, clock, log } = this.deps;
    const spent = this.spent.take();
    const { effectsMade: effects } = this;
    const facts = { run: this.run.id, target: this.target.id };
    if (decision.unexpected !== undefined)
      log.error({ ...facts, err: decision.unexpected }, 'a job failed unexpectedly');
    const target = this.requests.addTo(namingStep(this.run.policy, this.withWatchFacts(decision.target)));
    const moved = await records.targets.move(this.run, target, {
      from: ['acting'],
      spent,
      effects,
      owner: ownerOf(this.run, this.target),
      at: clock.now(),
      ...defined({ dueAt: decision.dueAt }),
    });
    if (decision.refused) await blockAccount(this.deps, this.run.account, decision.refused);
    return moved ? { before: this.claimed, target, spent, effects, dueAt: decision.dueAt } : undefined;
  }

  /** Adds to a new watch the label that its kind gives it, and its start by the service's clock. */
  private withWatchFacts(target: Target): Target {
    const { watch } = target;
    if (target.state !== 'following' || !watch || watch.label !== undefined) return target;
    const kind = watchKindOf(this.deps.registry, watch.kind);
    const { intent } = this.target;
    const noted = watch.since === intent?.at ? intent.serviceAt : undefined;
    const serviceSince = watch.serviceSince ?? noted ?? this.client.knownServiceTime(watch.since);
    const id = kind.id?.(watch);
    const facts = { label: kind.label(watch), ...(serviceSince ? { serviceSince } : {}) };
    return { ...target, ...defined({ taskId: id }), watch: { ...watch, ...facts } };
  }
}
