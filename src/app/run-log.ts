/**
 * What the daemon's log tells of runs besides their ends: that one begins, whoever asked for it and wherever
 * it is planned.
 */
import type { CaretakerEvent } from '../records/events.ts';
import type { Caretaker } from './caretaker.ts';

/** Tells until stopped. An event that is missed while Redis is away is not told. */
export function tellBeginnings({ records, log }: Caretaker): () => Promise<void> {
  const tell = async (event: CaretakerEvent) => {
    if (event.type !== 'run.moved' || event.status !== 'planning') return;
    const run = await records.runs.get(event.run);
    // A run that was blocked while planning plans again; it began before.
    if (run?.startedAt === event.at) log.info({ run: run.id, trigger: run.trigger }, 'a run starts');
  };
  const complain = (error: unknown) => log.warn({ err: error }, 'the start of a run could not be logged');
  const listening = records.listen((event) => void tell(event).catch(complain));
  listening.catch(complain);
  return async () => (await listening)();
}
