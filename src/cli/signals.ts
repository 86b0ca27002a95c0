/**
 * Resolves with the name of the first SIGINT or SIGTERM. A second one ends the process immediately.
 */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let received = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (received) process.exit(signal === 'SIGINT' ? 130 : 143);
        received = true;
        resolve(signal);
      });
    }
  });
}
