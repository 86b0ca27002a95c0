import { setTimeout as sleep } from 'node:timers/promises';

/** Looks every `everyMs` until the condition holds; tells whether it did within `limitMs`. */
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
