/**
 * Makes and stores the plan of a run, then lets it go.
 *
 * A plan changes nothing in the account. It is stored page by page under a step of its own, so that when planning is
 * cut off, or runs twice at once, one attempt's plan counts and the other can add nothing to it.
 */

import { InvalidInputError } from '../client/client.ts';
import { AccountRefusedError, RedirectedError, RejectedError, UnavailableError } from '../client/errors.ts';
import { CaretakerError, messageOf } from '../errors.ts';
import type { Entry } from '../queue/queues.ts';
import type { LeftOut } from '../records/target-store.ts';
import type { Run, Target } from '../run/run.ts';
import { admitAccount, blockAccount } from './block.ts';
import { candidates, countAll, type Planned, type Planning } from './candidates.ts';
import { ended } from './decide.ts';
import { drain } from './drain.ts';
import { concludeRun, finishIfDone, handOut } from './finish.ts';
import { type Parts, policyOf } from './parts.ts';

const PAGE = 100;

/** Plans a run that is queued or was cut off while planning; quietly does nothing for any other. */
export async function planRun(parts: Parts, entry: Extract<Entry, { kind: 'plan' }>): Promise<void> {
  const { records, clock, log } = parts;
  const run = await records.runs.get(entry.run);
  if (!run || run.ending) return;
  const policy = policyOf(run);
  const now = clock.now();
  if (run.status === 'queued') {
    if (!(await records.runs.move(run, 'planning', { at: now, deadline: now + policy.timeout.runMs })))
      return;
  } else if (run.status !== 'planning') return;

  try {
    await new PlanMaking(parts, { ...run, status: 'planning' }).make();
  } catch (error) {
    if (error instanceof AccountRefusedError) return blockAccount(parts, run.account, error);
    if (isFinalFailure(error)) {
      await concludeRun(parts, run, 'failed', `Planning failed: ${messageOf(error)}`);
      return;
    }
    if (!(error instanceof UnavailableError)) throw error;
    // The service is away: the run stays as it is and says why, and planning is tried again by the steward.
    await records.runs.note(run.id, messageOf(error));
    log.warn({ run: run.id }, messageOf(error));
  }
}

/** Whether planning again would fail in the same way. */
function isFinalFailure(error: unknown): boolean {
  if (
    error instanceof RejectedError ||
    error instanceof RedirectedError ||
    error instanceof InvalidInputError
  )
    return true;
  return error instanceof CaretakerError && !(error instanceof UnavailableError);
}

class PlanMaking {
  private requests = 0;
  private targets: Target[] = [];
  private leftOut: LeftOut[] = [];
  private found = 0;
  private readonly planning: Planning;

  constructor(
    private readonly parts: Parts,
    private readonly run: Run,
  ) {
    const policy = policyOf(run);
    const job = parts.registry.get(run.job);
    if (!job) throw new NoSuchJobError(run.job);
    this.planning = {
      policy,
      job,
      client: parts.link(run.account).client,
      only: run.only,
      now: parts.clock.now(),
      priority: 'action',
      onRequest: () => {
        this.requests += 1;
      },
    };
  }

  async make(): Promise<void> {
    const { records } = this.parts;
    const step = await records.targets.beginPlan(this.run.id);
    const { limits } = this.planning.policy;
    let tooMany: string | undefined;
    try {
      for await (const planned of candidates(this.planning)) {
        if (this.note(planned) > limits.maxTargets) {
          tooMany = `The plan has more than ${limits.maxTargets} targets (limits.max_targets).`;
          break;
        }
        if (this.targets.length >= PAGE && !(await this.store(step))) return;
      }
      tooMany ??= await this.overShare();
    } finally {
      await records.runs.countRequests(this.run.id, this.requests);
    }
    if (!(await this.store(step))) return;
    if (tooMany !== undefined) await this.stop(tooMany);
    else await this.letGo();
  }

  /** Takes a candidate into the plan; gives how many targets are to be worked on so far. */
  private note(planned: Planned): number {
    const { id, label } = planned;
    if (planned.is === 'left-out') this.leftOut.push({ id, label, why: planned.why });
    else {
      const target: Target = { id, label, state: 'pending', step: 0, attempts: 0, waits: 0 };
      if (planned.is === 'target') this.found += 1;
      this.targets.push(
        planned.is === 'target'
          ? target
          : ended(target, 'skipped', 'not-eligible', planned.why, this.planning.now),
      );
    }
    return this.found;
  }

  private async store(step: number): Promise<boolean> {
    const [targets, leftOut] = [this.targets, this.leftOut];
    [this.targets, this.leftOut] = [[], []];
    const ours = await this.parts.records.targets.add(this.run.id, step, targets);
    if (ours) await this.parts.records.targets.addLeftOut(this.run.id, leftOut);
    return ours;
  }

  /** The sentence about `limits.max_percent`, when the plan is over it. Costs a request only when there is a limit. */
  private async overShare(): Promise<string | undefined> {
    const { maxPercent } = this.planning.policy.limits;
    if (maxPercent >= 100) return undefined;
    const all = await countAll(this.planning);
    if (this.found * 100 <= maxPercent * all) return undefined;
    return `The plan has ${this.found} of ${all} targets, more than ${maxPercent}% (limits.max_percent).`;
  }

  private async stop(detail: string): Promise<void> {
    const { records } = this.parts;
    await records.runs.end(this.run, 'safety-limit', detail);
    await drain(this.parts, { ...this.run, ending: 'safety-limit' });
    await concludeRun(this.parts, this.run, 'stopped', detail);
  }

  private async letGo(): Promise<void> {
    const { records, clock } = this.parts;
    if (this.run.detail !== undefined) await records.runs.clearDetail(this.run.id);
    if (!(await records.runs.move(this.run, 'running', { at: clock.now(), planComplete: true }))) return;
    await admitAccount(this.parts, this.run.account);
    await handOut(this.parts, this.run.id);
    await finishIfDone(this.parts, this.run.id);
  }
}

/** The run's job is not among the jobs of this program. */
class NoSuchJobError extends CaretakerError {
  readonly code = 'NO_SUCH_JOB';
  constructor(job: string) {
    super(`There is no job "${job}" here any more.`);
  }
}
