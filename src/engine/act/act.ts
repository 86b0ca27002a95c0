/**
 * One step on one target: claim it, reconcile what an earlier step left open, let the job act, write what
 * follows.
 *
 * The order is the promise of DESIGN section 5. The intent is written, provably ours, before the request is
 * sent; the result is written after the answer; and a step that finds an intent without a result looks before
 * it acts.
 */

import { BudgetSpentError } from '../../budget/budget.ts';
import type { CallOptions } from '../../client/call-options.ts';
import type { Client } from '../../client/client.ts';
import {
  AccountRefusedError,
  ConflictError,
  GoneError,
  RejectedError,
  UnavailableError,
} from '../../client/errors.ts';
import { InvalidInputError } from '../../client/invalid-input.ts';
import type { OperationId } from '../../contract/operations.ts';
import { operationOf } from '../../contract/operations.ts';
import { CaretakerError } from '../../errors.ts';
import type { Acting, AnyJob, Effects, Holder, Once } from '../../job/job.ts';
import { effectIdsIn, isOnce } from '../../job/reconcile/find-effect.ts';
import { watchKindOf } from '../../job/registry.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Entry } from '../../queue/queues.ts';
import type { Effect } from '../../records/effect-store.ts';
import type { KeyHolder } from '../../records/once-store.ts';
import type { Run, Target, TargetIn } from '../../run/run.ts';
import type { EngineDeps } from '../deps.ts';
import { readingOf, runContextOf } from '../job-api.ts';
import { Spending } from '../spending.ts';
import { blockAccount } from '../supervise/block.ts';
import { type Decision, decide, type Found } from './decide.ts';
import { encodeAnswer } from './encode-answer.ts';

/**
 * A request leaves so soon after its intent was noted, or not at all: a process that was held up sends
 * nothing late.
 */
const SEND_TIMEOUT_MS = 5_000;
/**
 * How long after an intent its request may still arrive at the service: only then does its absence prove
 * anything. It left within `SEND_TIMEOUT_MS`, connecting and sending take seconds more, the rest is for
 * clocks and networks.
 */
const IN_TRANSIT_MS = 45_000;
/** How often a worker shows that it is still at work on its target. */
const RENEW_INTERVAL_MS = 5_000;

/** The target was handed to somebody else meanwhile: nothing may be sent or written for it any more. */
class FencedError extends CaretakerError {
  readonly code = 'FENCED';
  constructor() {
    super('The target was handed to another worker meanwhile.');
  }
}

/** The run was cancelled while the step was on its way: it begins nothing any more. */
class RunCancelledError extends CaretakerError {
  readonly code = 'RUN_CANCELLED';
  constructor() {
    super('The run was cancelled.');
  }
}

/** What of a run never changes, and is therefore read once for all of its targets. */
export interface ActingRun extends Pick<Run, 'id' | 'account' | 'job' | 'scheduledFor'> {
  readonly policy: Policy;
}

/**
 * Works on one entry; gives the target as it was left. Gives nothing, quietly, when the entry is outdated,
 * and when the target was taken from us. Costs what the job says, plus a reconcile's reads. When `leaving`
 * aborts, no answer is waited for any longer: what was asked for is found out by whoever goes on with the
 * target.
 */
export async function act(
  deps: EngineDeps,
  run: ActingRun,
  { target: id, fence: dispatched }: Pick<Extract<Entry, { kind: 'act' }>, 'target' | 'fence'>,
  leaving: AbortSignal,
): Promise<Target | undefined> {
  // Unclaimed, the entry comes again: when the account lets us in, or at a process that knows account and
  // job.
  const job = deps.registry.get(run.job);
  if (!deps.serves(run.account) || !job) return undefined;
  const claimed = await deps.records.targets.claim(run, { id, fence: dispatched }, deps.clock.now());
  if (!claimed) return undefined;

  const step = new Step(deps, run, job, claimed.target, claimed.ending, leaving);
  const done = new AbortController();
  const renewing = step.keepClaim(done.signal);
  try {
    const decision = await step.take();
    return decision && (await step.write(decision));
  } finally {
    done.abort('done');
    await renewing;
  }
}

class Step {
  private readonly spent = new Spending();
  /** Whether nobody got an answer when the last call was made. */
  private duringOutage = false;
  /** What this step has brought about, as the service answered. */
  private brought: readonly Effect[] = [];

  constructor(
    private readonly deps: EngineDeps,
    private readonly run: ActingRun,
    private readonly job: AnyJob,
    /** As claimed; an intent noted on the way is added. */
    private target: TargetIn<'acting'>,
    /** Why the run was cancelled, if it was when the target was claimed. */
    private readonly ending: Run['ending'],
    private readonly leaving: AbortSignal,
  ) {}

  /**
   * Renews the claim until `done`, so that a step that takes long is not mistaken for one whose worker died.
   */
  async keepClaim(done: AbortSignal): Promise<void> {
    const { clock, records, log } = this.deps;
    while (!done.aborted) {
      await clock.sleep(RENEW_INTERVAL_MS, done);
      if (done.aborted) return;
      const { id, fence: step } = this.target;
      await records.targets
        .renew(this.run.id, { id, fence: step }, clock.now())
        .catch((error: unknown) =>
          log.warn({ run: this.run.id, target: id, err: error }, 'a claim could not be renewed'),
        );
    }
  }

  /** What follows from this step, or nothing when the target was taken from us. */
  async take(): Promise<Decision | undefined> {
    const found = await this.find().catch((error: unknown): Found => ({ error }));
    if ('error' in found && found.error instanceof FencedError) return undefined;
    if ('error' in found && found.error instanceof RunCancelledError) return this.whenCancelled();
    if ('error' in found && this.wasLeft(found.error)) return this.decide({ is: 'left' });
    return this.decide(found);
  }

  /** Whether there is no answer because this process leaves. */
  private wasLeft(error: unknown): boolean {
    const { aborted, reason } = this.leaving;
    return aborted && (error === reason || error instanceof UnavailableError);
  }

  /** What was found out about a run that was cancelled while this step was under way. */
  private async whenCancelled(): Promise<Decision> {
    const run = await this.deps.records.runs.get(this.run.id);
    return this.decide({ is: 'run-cancelled', ending: run?.ending ?? 'cancelled' });
  }

  private async decide(found: Found): Promise<Decision> {
    const usesAttempt = !('error' in found && (await this.isOutage(found.error)));
    return decide(this.target, found, {
      now: this.deps.clock.now(),
      retry: this.run.policy.retry,
      usesAttempt,
    });
  }

  /**
   * Whether a request got no usable answer because nobody gets one. Its own moment does not tell at the edges
   * of an outage, where others were answered just before it or just after. So the service is asked something
   * else, unless it was away already when the request was sent.
   */
  private async isOutage(error: unknown): Promise<boolean> {
    if (!(error instanceof UnavailableError && error.sent)) return false;
    return this.duringOutage || !(await this.client.answers(this.spent.count, this.leaving));
  }

  private async find(): Promise<Found> {
    if (this.target.taskCancel) return this.cancelTask();
    if (this.target.intent) {
      const answer = await this.reconcile();
      if (answer) return answer;
    }
    if (this.ending) return { is: 'run-cancelled', ending: this.ending };
    if (this.target.attempts >= this.run.policy.retry.attempts) {
      const { attempts, detail } = this.target;
      const last = detail === undefined ? '' : ` The last time: ${detail}`;
      return { is: 'failed', reason: 'unavailable', detail: `It failed ${attempts} times.${last}` };
    }
    return encodeAnswer(this.job, await this.job.act(this.acting()));
  }

  /**
   * Cancels the task that is followed, because the run was cancelled. Harmless to repeat: an answer that was
   * lost is not looked for. A task that has ended meanwhile is followed to that end.
   */
  private async cancelTask(): Promise<Found> {
    const { watch } = this.target;
    this.dropIntent();
    try {
      if (watch) await this.deps.registry.watches.get(watch.kind)?.cancel?.(this.jobApi().api, watch);
    } catch (error) {
      if (!(error instanceof RejectedError || error instanceof GoneError)) throw error;
    }
    return { is: 'task-cancel-requested' };
  }

  /** What became of an effect whose answer was lost; nothing when it provably did not happen. */
  private async reconcile(): Promise<Found | undefined> {
    const { intent } = this.target;
    if (!intent) return undefined;
    const found = await this.job.reconcile(this.acting(), intent);
    if (found.is === 'unknown') return { ...found, is: 'failed', reason: 'unknown-effect' };
    if (found.is !== 'absent') return encodeAnswer(this.job, found);
    const trustedAt = intent.at + IN_TRANSIT_MS;
    // Absent so far: wait, without using up anything, until the lost request can no longer be on its way.
    if (this.deps.clock.now() < trustedAt) return { is: 'too-early', at: trustedAt };
    if (intent.confirmed && isOnce(intent.operation as OperationId)) {
      const detail = `The service reported that ${intent.operation} was done, and the account does not show it.`;
      return { is: 'failed', reason: 'unknown-effect', detail };
    }
    this.dropIntent();
    return undefined;
  }

  private jobApi() {
    return readingOf(this.client, this.options(), (operation, input, note) =>
      this.call(operation, input, note),
    );
  }

  private acting(): Acting<unknown> {
    const { id, label, jobState, ended, intent } = this.target;
    return {
      ...this.jobApi(),
      serviceTime: async (at) =>
        (at === intent?.at ? intent.serviceAt : undefined) ?? this.client.serviceTime(at, this.options()),
      effects: this.effects(),
      once: this.once(),
      target: { id, label },
      options: this.run.policy.options,
      runContext: runContextOf(this.run.policy, this.run.scheduledFor),
      state: jobState === undefined ? undefined : this.job.state?.parse(JSON.parse(jobState)),
      ...(ended ? { ended } : {}),
      now: this.deps.clock.now(),
    };
  }

  private effects(): Effects {
    const { records, clock } = this.deps;
    const { id: run, account } = this.run;
    const { id: target, intent } = this.target;
    const own = (what: 'claim' | 'isAnothers') => (operation: OperationId, id: string) => {
      const now = clock.now();
      return records.effects[what](account, { operation, id }, { run, target }, now, intent?.at ?? now);
    };
    return { claim: own('claim'), isAnothers: own('isAnothers') };
  }

  private once(): Once {
    const { records, clock } = this.deps;
    const { account } = this.run;
    const owner = { run: this.run.id, target: this.target.id };
    const asHolder = async (held: KeyHolder): Promise<Holder> => {
      if (held.run === owner.run && held.target === owner.target) return { ...held, isOurs: true };
      const holder = await records.targets.get(held.run, held.target);
      // A run that was removed with its targets ended long ago.
      const endedAt = holder?.state === 'ended' ? holder.finishedAt : holder ? undefined : held.at;
      return { ...held, isOurs: false, ...(endedAt === undefined ? {} : { endedAt }) };
    };
    return {
      claim: async (key, instead) =>
        asHolder(await records.once.claim(account, key, owner, clock.now(), instead)),
      holder: async (key) => {
        const held = await records.once.holder(account, key);
        return held && asHolder(held);
      },
      note: (key, result) => records.once.note(account, key, owner, result),
      results: (names) => records.once.results(account, names),
    };
  }

  /** Options for one call. */
  private options(): CallOptions {
    let isFirst = true;
    return {
      requestClass: this.target.intent ? 'control' : 'action',
      whenSpent: 'leave',
      signal: this.leaving,
      onRequest: (operation, { duringOutage = false }) => {
        // A read is sent again when it fails: what it met the first time is not its own doing.
        if (isFirst) this.duringOutage = duringOutage;
        isFirst = false;
        this.spent.count(operation);
      },
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
    if (this.target.intent) throw new Error(`A job may have one effect a step; ${id} would be its second.`);
    try {
      // Noted when the budget has let the request go: nothing that can take long lies between intent and
      // request. A request that was turned away by a 429 is noted again when it goes again.
      const answer = await client.call(id, input, {
        ...options,
        beforeSend: () => this.noteIntent(id, note),
      });
      this.brought = effectIdsIn(id, answer, input).map((effect) => ({ operation: id, id: effect }));
      return answer;
    } catch (error) {
      if (provesAbsence(error)) this.dropIntent();
      throw error;
    }
  }

  /** Gives the moment by which the request must have left. */
  private async noteIntent(operation: OperationId, note: string | undefined): Promise<number> {
    const { records, clock } = this.deps;
    const at = clock.now();
    const serviceAt = this.client.knownServiceTime(at);
    const intent = {
      operation,
      at,
      ...(serviceAt ? { serviceAt } : {}),
      ...(note === undefined ? {} : { note }),
    };
    const { id, fence: step } = this.target;
    const raised = await records.targets.noteIntent(this.run.id, { id, fence: step }, intent);
    if (raised === 'fenced') throw new FencedError();
    if (raised === 'run-cancelled') throw new RunCancelledError();
    this.target = { ...this.target, intent, fence: raised };
    return intent.at + SEND_TIMEOUT_MS;
  }

  private dropIntent(): void {
    const { intent: _over, ...target } = this.target;
    this.target = target;
  }

  /** Writes what was decided; gives the target as it then is, or nothing when it was taken from us. */
  async write(decision: Decision): Promise<Target | undefined> {
    const { records, clock, log } = this.deps;
    const facts = { run: this.run.id, target: this.target.id };
    if (decision.unforeseen !== undefined)
      log.error({ ...facts, err: decision.unforeseen }, 'a job failed unforeseen');
    const target = this.withWatchFacts(decision.target);
    const settled = await records.targets.move(this.run, target, {
      from: ['acting'],
      spent: this.spent.take(),
      effects: this.brought,
      at: clock.now(),
      ...(decision.dueAt === undefined ? {} : { dueAt: decision.dueAt }),
    });
    if (decision.refused) await blockAccount(this.deps, this.run.account, decision.refused);
    return settled ? target : undefined;
  }

  /**
   * Notes with work that begins to be followed what its kind calls it, and when that was by the service's
   * clock.
   */
  private withWatchFacts(target: Target): Target {
    const { watch } = target;
    if (target.state !== 'following' || !watch || watch.label !== undefined) return target;
    const kind = watchKindOf(this.deps.registry, watch.kind);
    const { intent } = this.target;
    const noted = watch.since === intent?.at ? intent.serviceAt : undefined;
    const serviceSince = watch.serviceSince ?? noted ?? this.client.knownServiceTime(watch.since);
    const id = kind.id?.(watch);
    const facts = { label: kind.label(watch), ...(serviceSince ? { serviceSince } : {}) };
    return { ...target, ...(id === undefined ? {} : { taskId: id }), watch: { ...watch, ...facts } };
  }
}

/** The errors that show that the effect of a call did not happen; any other leaves it open. */
const refusals = [
  RejectedError,
  ConflictError,
  GoneError,
  AccountRefusedError,
  BudgetSpentError,
  InvalidInputError,
];
const provesAbsence = (error: unknown): boolean =>
  refusals.some((refusal) => error instanceof refusal) || (error instanceof UnavailableError && !error.sent);
