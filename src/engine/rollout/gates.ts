/** What rollouts ask of the service between batches, while the supervisor continues. */
import { AccountRefusedError } from '../../client/errors.ts';
import { CaretakerError, messageOf } from '../../errors.ts';
import type { Run } from '../../run/run.ts';
import type { EngineDeps } from '../deps.ts';
import { blockAccount } from '../supervise/block.ts';
import { answerGate, checkNext } from './advance.ts';
import { askGate } from './gate.ts';

/** How long after a failure it is asked again. */
const RETRY_MS = 10_000;

/**
 * The gates that this process asks, and the batches that it looks at again. One may wait for the budget. Nothing is
 * stored before an answer is complete, so whatever is interrupted is asked again.
 */
export class Gates {
  private readonly asked = new Map<string, { asking?: Promise<void>; failedAt?: number }>();

  constructor(
    private readonly deps: EngineDeps,
    private readonly signal: AbortSignal,
  ) {}

  /** Asks for a run that checks a batch or whose gate is to be asked, unless that is under way or failed just now. */
  ask(run: Run): void {
    const known = this.asked.get(run.id);
    const agoMs = this.deps.clock.now() - (known?.failedAt ?? 0);
    // A failure of before the clock went back is not of just now.
    if (known?.asking || (agoMs >= 0 && agoMs < RETRY_MS) || this.signal.aborted) return;
    const asking = this.answer(run).then((failedAt) => {
      if (failedAt === undefined) this.asked.delete(run.id);
      else this.asked.set(run.id, { failedAt });
    });
    this.asked.set(run.id, { asking });
  }

  /** Waits until nothing is being asked. */
  async idle(): Promise<void> {
    await Promise.all([...this.asked.values()].map(({ asking }) => asking));
  }

  /** Resolves with the time of a failure, soon after which it is not asked again. Never rejects. */
  private async answer(run: Run): Promise<number | undefined> {
    const { deps, signal } = this;
    try {
      if (run.rollout?.is === 'checking') await checkNext(deps, run, signal);
      else await answerGate(deps, run, await askGate(deps, run, signal));
      return undefined;
    } catch (error) {
      if (signal.aborted) return undefined;
      return this.failed(run, error).catch(() => undefined);
    }
  }

  private async failed(run: Run, error: unknown): Promise<number | undefined> {
    const { records, clock, log } = this.deps;
    if (error instanceof AccountRefusedError) {
      await blockAccount(this.deps, run.account, error);
      return undefined;
    }
    const what =
      run.rollout?.is === 'checking'
        ? 'The next batch could not be checked'
        : 'The gate of the rollout could not be asked';
    const why = `${what}, and this is tried again: ${messageOf(error)}`;
    if (error instanceof CaretakerError) log.warn({ run: run.id }, why);
    else log.error({ run: run.id, err: error }, why);
    const failedAt = clock.now();
    await records.runs.note(run.id, why, { step: run.step ?? 0 });
    return failedAt;
  }
}
