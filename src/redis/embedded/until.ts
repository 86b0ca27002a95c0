import { setTimeout as sleep } from 'node:timers/promises';

/** Checks the condition every `everyMs` until it holds. Returns whether it did within `limitMs`. */
export async function until(
  holds: () => Promise<boolean>,
  { everyMs, limitMs }: { everyMs: number; limitMs: number },
): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() >= deadline) return false;
    await sleep(everyMs);
  }
  return true;
}
