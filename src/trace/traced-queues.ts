/** The queues, with what BullMQ does for a run in the trace of the run. */
import type { Entry } from '../queue/entry.ts';
import type { Queues } from '../queue/queues.ts';
import type { Traces } from './traces.ts';

/** The same queues. Entries that are put together are those of one run. */
export const tracedQueues = (queues: Queues, traces: Traces): Queues => ({
  ...queues,
  put: (entries) => traces.within(runOf(entries), () => queues.put(entries)),
});

function runOf(entries: readonly Entry[]): string | undefined {
  const found = entries.find((entry) => entry.kind !== 'deliver');
  return found && 'run' in found ? found.run : undefined;
}
