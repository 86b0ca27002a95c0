/** Logs the start of every run, whatever triggered it and whichever process plans it. */
import type { CaretakerEvent } from '../records/events.ts';
import type { Caretaker } from './caretaker.ts';

/** Logs until stopped. Events that are missed while Redis is away are not logged. */
export function logRunStarts({ records, log }: Caretaker): () => Promise<void> {
  const logStart = async (event: CaretakerEvent) => {
    if (event.type !== 'run.moved' || event.status !== 'planning') return;
    const run = await records.runs.get(event.run);
    // A run that was blocked while planning is planned again. It started before.
    if (run?.startedAt === event.at) log.info({ run: run.id, trigger: run.trigger }, 'a run starts');
  };
  const warn = (error: unknown) => log.warn({ err: error }, 'the start of a run could not be logged');
  const listening = records.listen((event) => void logStart(event).catch(warn));
  listening.catch(warn);
  return async () => (await listening)();
}
