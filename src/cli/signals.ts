/**
 * Resolves with the name of the first SIGINT or SIGTERM; a second one ends the process at once.
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
