import { setTimeout as after } from 'node:timers/promises';
import type { Records } from '../../records/records.ts';

/** Redis that takes longer is said to be away. */
const ANSWER_MS = 1_500;
/** The question to Redis that has no answer yet: one for all that ask, because commands wait while Redis is away. */
const asked = new WeakMap<Records, Promise<boolean>>();

/** Whether Redis answers in time. */
export function redisAnswers(records: Records): Promise<boolean> {
  const answer =
    asked.get(records) ??
    records.freeze
      .at(Date.now())
      .then(
        () => true,
        () => false,
      )
      .finally(() => asked.delete(records));
  asked.set(records, answer);
  return Promise.race([answer, after(ANSWER_MS, false, { ref: false })]);
}
