/**
 * What the other rooms tell about a run, so that it becomes a trace. Without a receiver for traces there is no
 * `Traces` at all: the rooms have `undefined`, and this room's other files are not loaded.
 */
import type { Telemetry } from 'bullmq';
import type { SentRequest } from '../client/call-options.ts';
import type { Entry } from '../queue/entry.ts';
import type { Queues } from '../queue/queues.ts';
import type { Run, Target, TargetIn } from '../run/run.ts';

/** What a request is sent for. */
export interface Work {
  run: string;
  /** The target, if it is sent for one target alone. */
  target?: string | undefined;
  /** Since when work of the target has been followed, if the request asks for that work. */
  followedSince?: number | undefined;
}

export interface Traces {
  /** The id of the run's trace; undefined when the run is not sampled. */
  traceOf(run: string): string | undefined;
  /** The run has ended; called by the one process that ended it. */
  runEnded(run: Run): void;
  /** A target has ended; called by the one process that ended it. Targets that were never started make no span. */
  targetEnded(run: Pick<Run, 'id' | 'account' | 'job'>, target: TargetIn<'ended'>): void;
  /** Work in the service is no longer followed; `now` is the target after that. */
  followed(
    run: Pick<Run, 'id' | 'account'>,
    work: { was: TargetIn<'following'>; now: Target; at: number },
  ): void;
  /** Pass this as `onSent` of a call. Undefined when the run is not sampled. */
  requestsOf(work: Work): ((sent: SentRequest) => void) | undefined;
  /** Calls `work`; what BullMQ does in it belongs to the run, or, without one, to no trace. */
  within<T>(run: string | undefined, work: () => T): T;
  /** For BullMQ, which makes its own spans. */
  readonly telemetry: Telemetry;
  /** Sends what was not sent yet; waits some seconds at most. */
  close(): Promise<void>;
}

// The queues, with what BullMQ does for a run in the trace of the run.

/** The same queues. Entries that are put together are those of one run. */
export const tracedQueues = (queues: Queues, traces: Traces): Queues => ({
  ...queues,
  put: (entries) => traces.within(runOf(entries), () => queues.put(entries)),
});

function runOf(entries: readonly Entry[]): string | undefined {
  const found = entries.find((entry) => entry.kind !== 'deliver');
  return found && 'run' in found ? found.run : undefined;
}
