/**
 * Leaps over the time in which all work of a Caretaker only waits. Without that, a test would pass the minutes of a task,
 * or until a request counts as lost, with hundreds of rounds of the supervisor.
 */
import type { Caretaker } from '../../src/app/caretaker.ts';
import { keys } from '../../src/records/keys.ts';
import { around } from './between.ts';
import type { FastClock } from './caretaker.ts';

const NEVER = Number.POSITIVE_INFINITY;
/** At a time: a target that is parked for a place of its group is due in the far future. */
const MAX_LEAP_MS = 3_600_000;

/**
 * After each round of its supervisor, while `isWanted`: so no round is in progress, and the next one finds what the time
 * has made due.
 */
export function leapOverIdleTime(caretaker: Caretaker, clock: FastClock, isWanted: () => boolean): void {
  around(caretaker.records.accounts, 'noteSupervised', async (note, account) => {
    await note();
    if (isWanted()) clock.leap(await idleMs(caretaker, account));
  });
}

/**
 * How long nothing of an account's runs is due. While work is followed, a quarter of its age: so any task takes some
 * ten rounds.
 */
async function idleMs({ records, redis: { store }, clock }: Caretaker, account: string): Promise<number> {
  const runs = await records.runs.active(account);
  const now = clock.now();
  const earliest = async (index: string) =>
    Number((await store.zrange(index, '0', '0', 'WITHSCORES'))[1] ?? NEVER);
  let until = NEVER;
  for (const { id, status, held, ending, rollout, deadline = NEVER } of runs) {
    if (status !== 'running' || held || ending || rollout) return 0;
    const [busy, following, waiting, late] = await Promise.all([
      store.exists(keys.acting(id), keys.pending(id)),
      earliest(keys.following(id)),
      earliest(keys.waiting(id)),
      earliest(keys.deadlines(id)),
    ]);
    if (busy > 0 || Math.min(following, waiting) === NEVER) return 0;
    const lookedAt = following === NEVER ? NEVER : now + Math.max(Math.round((now - following) / 4), 1_000);
    until = Math.min(until, deadline, waiting, late, lookedAt);
  }
  return until === NEVER ? 0 : Math.round(Math.min(Math.max(0, until - now), MAX_LEAP_MS));
}
