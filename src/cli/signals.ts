/**
 * Resolves with the name of the signal when somebody asks the process to stop; a second one ends it at once.
 */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (asked) process.exit(signal === 'SIGINT' ? 130 : 143);
        asked = true;
        resolve(signal);
      });
    }
  });
}
