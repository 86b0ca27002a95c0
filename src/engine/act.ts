/**
 * One step on one target: claim it, reconcile what an earlier step left open, let the job act, write what follows.
 *
 * The order is the promise of DESIGN section 5. The intent is written, provably ours, before the request is sent; the
 * result is written after the answer; and a step that finds an intent without a result looks before it acts.
 */
import { UnavailableError } from '../client/errors.ts';
import { ContractError } from '../contract/answers.ts';
import type { OperationId } from '../contract/operations.ts';
import { operationOf } from '../contract/operations.ts';
import { CaretakerError } from '../errors.ts';
import type { Acting, AnyJob, Api } from '../job/job.ts';
import type { Policy } from '../policy/policy.ts';
import type { Entry } from '../queue/queues.ts';
import type { Run, Target } from '../run/run.ts';
import { blockAccount } from './block.ts';
import { type Decision, decide, type Found } from './decide.ts';
import { afterTarget } from './finish.ts';
import { type Parts, policyOf } from './parts.ts';

/**
 * How long after an intent its request may still arrive at the service: only then does its absence prove anything.
 * Connecting and sending take seconds; a paused process is fenced off by its step and its lock long before.
 */
const IN_TRANSIT_MS = 45_000;

/** The target was handed to somebody else meanwhile: nothing may be sent or written for it any more. */
class FencedError extends CaretakerError {
  readonly code = 'FENCED';
  constructor() {
    super('The target was handed to another worker meanwhile.');
  }
}

/** Works on one entry. Ends quietly when the entry is outdated. Costs what the job says, plus a reconcile's reads. */
export async function act(parts: Parts, entry: Extract<Entry, { kind: 'act' }>): Promise<void> {
  const { records, clock } = parts;
  const run = await records.runs.get(entry.run);
  if (!run) return;
  const target = await records.targets.claim(run.id, { id: entry.target, step: entry.step }, clock.now());
  if (!target) return;

  const policy = policyOf(run);
  const step = new Step(parts, run, policy, target);
  const decision = await step.take();
  if (decision) await step.write(decision);
}

class Step {
  private requests = 0;

  constructor(
    private readonly parts: Parts,
    private readonly run: Run,
    private readonly policy: Policy,
    /** As claimed; an intent noted on the way is added. */
    private target: Target,
  ) {}

  /** What follows from this step, or nothing when the target was taken from us. */
  async take(): Promise<Decision | undefined> {
    const found = await this.find().catch((error: unknown): Found => ({ error }));
    if ('error' in found && found.error instanceof FencedError) return undefined;
    const { budget } = this.parts.link(this.run.account);
    return decide(this.target, found, {
      now: this.parts.clock.now(),
      retry: this.policy.retry,
      answeredAt: (await budget.state()).answeredAt,
    });
  }

  private async find(): Promise<Found> {
    const job = this.parts.registry.get(this.run.job);
    if (!job)
      return { is: 'failed', reason: 'internal', detail: `There is no job "${this.run.job}" here any more.` };
    if (this.target.intent) {
      const answer = await this.reconcile(job);
      if (answer) return answer;
    }
    if (this.run.ending) return { is: 'called-off', ending: this.run.ending };
    if (this.target.attempts >= this.policy.retry.attempts) {
      return { is: 'failed', reason: 'unavailable', detail: `It failed ${this.target.attempts} times.` };
    }
    return job.act(this.acting());
  }

  /** What became of an effect whose answer was lost; nothing when it provably did not happen. */
  private async reconcile(job: AnyJob): Promise<Found | undefined> {
    const { intent } = this.target;
    if (!intent) return undefined;
    const found = await job.reconcile(this.acting(), intent);
    if (found.is === 'unknown') {
      return { is: 'failed', reason: 'unknown-effect', ...(found.detail ? { detail: found.detail } : {}) };
    }
    if (found.is !== 'absent') return found;
    const trustedAt = intent.at + IN_TRANSIT_MS;
    // Absent so far: wait, without using up anything, until the lost request can no longer be on its way.
    if (this.parts.clock.now() < trustedAt) return { is: 'too-early', at: trustedAt };
    this.dropIntent();
    return undefined;
  }

  private acting(): Acting<unknown> {
    const { id, label } = this.target;
    const api = new Proxy({} as Api, {
      get: (_, operation) => (input: never) => this.call(operation as OperationId, input),
    });
    return { api, target: { id, label }, options: this.policy.options, now: this.parts.clock.now() };
  }

  private async call(id: OperationId, input: never): Promise<unknown> {
    const { client } = this.parts.link(this.run.account);
    const effect = operationOf(id).effect !== undefined;
    const options = {
      priority: this.target.intent ? ('control' as const) : ('action' as const),
      whenSpent: 'leave' as const,
      onRequest: () => {
        this.requests += 1;
      },
    };
    if (!effect) return client.call(id, input, options);
    await this.noteIntent(id);
    try {
      return await client.call(id, input, options);
    } catch (error) {
      if (provesAbsence(error)) this.dropIntent();
      throw error;
    }
  }

  private async noteIntent(operation: OperationId): Promise<void> {
    if (this.target.intent)
      throw new Error(`A job may have one effect a step; ${operation} would be its second.`);
    const intent = { operation, at: this.parts.clock.now() };
    const { id, step } = this.target;
    if (!(await this.parts.records.targets.noteIntent(this.run.id, { id, step }, intent)))
      throw new FencedError();
    this.target = { ...this.target, intent };
  }

  private dropIntent(): void {
    const { intent: _over, ...target } = this.target;
    this.target = target;
  }

  async write(decision: Decision): Promise<void> {
    const { records, clock, log } = this.parts;
    const facts = { run: this.run.id, target: this.target.id };
    if (decision.unforeseen !== undefined)
      log.error({ ...facts, err: decision.unforeseen }, 'a job failed unforeseen');
    const settled = await records.targets.settle(this.run, decision.target, {
      from: ['acting'],
      requests: this.requests,
      at: clock.now(),
      ...(decision.dueAt === undefined ? {} : { dueAt: decision.dueAt }),
    });
    if (decision.refused) await blockAccount(this.parts, this.run.account, decision.refused);
    if (settled) await afterTarget(this.parts, this.run, decision.target);
  }
}

/** Whether an error of a call with an effect shows that the effect did not happen. */
function provesAbsence(error: unknown): boolean {
  return !(error instanceof ContractError) && !(error instanceof UnavailableError && error.sent);
}
