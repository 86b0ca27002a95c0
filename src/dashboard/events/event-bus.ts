import type { CaretakerEvent } from '../../records/events.ts';
import type { Records } from '../../records/records.ts';

/** The events of every process on this Redis: one subscription, passed on to every listener. */
export interface EventBus {
  /** Calls the listener for each event, until the returned function is called. */
  on(listener: (event: CaretakerEvent) => void): () => void;
  close(): Promise<void>;
}

/** Subscribes. */
export async function openEventBus(records: Pick<Records, 'listen'>): Promise<EventBus> {
  const listeners = new Set<(event: CaretakerEvent) => void>();
  const stop = await records.listen((event) => {
    for (const listener of listeners) listener(event);
  });
  return {
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: stop,
  };
}
