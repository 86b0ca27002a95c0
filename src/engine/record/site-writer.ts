/** What writing to one site needs: its claim, and the calls with their intents. */
import type { CallOptions } from '../../client/call-options.ts';
import type { Client } from '../../client/client.ts';
import { UnreadableError } from '../../client/errors.ts';
import { type Answer, type Input, type OperationId, operationOf } from '../../contract/operations.ts';
import { defined } from '../../defined.ts';
import { CaretakerError } from '../../errors.ts';
import type { Policy } from '../../policy/policy.ts';
import type { ClaimedSite, RecordKind } from '../../records/outbox-store.ts';
import type { SiteRecord } from '../../run/recordings.ts';
import type { Run } from '../../run/run.ts';
import { inTransitMs } from '../act/errors.ts';
import type { EngineDeps } from '../deps.ts';

/** A request must be sent within this time after its intent was recorded, or not at all. */
const SEND_TIMEOUT_MS = 5_000;

/** A run with something to be written to the site. The fields of the run are those that never change. */
export interface PendingRun {
  run: Pick<Run, 'id' | 'policy' | 'trigger' | 'scheduledFor'>;
  policy: Policy;
  record: SiteRecord;
}

/** The site was claimed by another process meanwhile: this one may send nothing more. */
export class ClaimLostError extends CaretakerError {
  readonly code = 'CLAIM_LOST';
  constructor() {
    super('The site was claimed by another process meanwhile.');
  }
}

/** A lost request may still arrive; `until` then it is not known whether it had its effect. */
export class TooEarlyError extends CaretakerError {
  readonly code = 'TOO_EARLY';
  constructor(
    readonly until: number,
    message = 'The answer to a request was lost; it is looked for before it is sent again.',
  ) {
    super(message);
  }
}

export class SiteWriter {
  /** Requests that were sent. */
  requests = 0;

  constructor(
    readonly deps: EngineDeps,
    readonly claim: ClaimedSite,
    private readonly stopping: AbortSignal,
  ) {}

  get client(): Client {
    return this.deps.link(this.claim.account).client;
  }

  get options(): CallOptions {
    return {
      requestClass: 'record',
      whenSpent: 'leave',
      signal: this.stopping,
      // As its cost, it is the first run's.
      onSent: this.deps.traces?.requestsOf({ run: this.claim.runs[0]?.id ?? '' }),
      onRequest: () => {
        this.requests += 1;
      },
    };
  }

  get isStopping(): boolean {
    return this.stopping.aborted;
  }

  /** Sends a request without an effect. Throws the client's errors. */
  read<Id extends OperationId>(id: Id, input: Input<Id>): Promise<Answer<Id>> {
    if (operationOf(id).effect !== undefined) throw new Error(`${id} has an effect.`);
    return this.client.call(id, input, this.options);
  }

  /**
   * Sends a change, with its intent under `name`. Gives no answer when the service made the change and its
   * answer cannot be read.
   *
   * @throws {TooEarlyError} while an earlier request under this name may still arrive.
   * @throws {ClaimLostError} and the client's errors.
   */
  async change<Id extends OperationId>(
    id: Id,
    name: string,
    input: Input<Id>,
  ): Promise<Answer<Id> | undefined> {
    const { clock, records } = this.deps;
    const earlier = this.claim.intents.get(name);
    const now = clock.now();
    const leftMs = earlier ? inTransitMs(earlier, now, this.client.knownServiceTime(now)) : 0;
    if (leftMs > 0) throw new TooEarlyError(now + leftMs);
    const beforeSend = async () => {
      const at = clock.now();
      const intent = { at, ...defined({ serviceAt: this.client.knownServiceTime(at) }) };
      if (!(await records.outbox.noteIntent(this.claim, name, intent))) throw new ClaimLostError();
      return at + SEND_TIMEOUT_MS;
    };
    try {
      return await this.client.call(id, input, { ...this.options, beforeSend });
    } catch (error) {
      if (error instanceof UnreadableError) return undefined;
      throw error;
    }
  }

  /** Whether the service gives usable answers to other requests. Costs one request, up to three if one fails. */
  answers(): Promise<boolean> {
    return this.client.answers(this.options, this.stopping);
  }

  /** Sets the state of the records of these runs. `drop`: the intent that has its result. */
  async settle(
    pending: readonly PendingRun[],
    kind: RecordKind,
    to: { state: 'recorded' | 'failed' | 'left'; why?: string; drop?: string },
  ): Promise<void> {
    for (const { run, record } of pending)
      await this.deps.records.outbox.setState(this.claim, run.id, kind, record, to);
  }
}
