import type { Io } from './io.ts';

const signals = ['SIGINT', 'SIGTERM'] as const;

/** Calls `handle` at each SIGINT or SIGTERM, until the returned function is called. */
export function onSignals(io: Pick<Io, 'on' | 'off'>, handle: (signal: NodeJS.Signals) => void): () => void {
  const handlers = signals.map((signal) => [signal, () => handle(signal)] as const);
  for (const [signal, one] of handlers) io.on(signal, one);
  return () => {
    for (const [signal, one] of handlers) io.off(signal, one);
  };
}

/**
 * Resolves with the name of the first SIGINT or SIGTERM. A second one ends the process immediately.
 */
export function untilSignal(io: Pick<Io, 'on' | 'off' | 'exit'>): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let received = false;
    onSignals(io, (signal) => {
      if (received) io.exit(signal === 'SIGINT' ? 130 : 143);
      received = true;
      resolve(signal);
    });
  });
}
