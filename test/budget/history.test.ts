/** What the budget remembers of the requests that were granted. */
import { expect, test } from 'vitest';
import { openBudget } from '../../src/budget/budget.ts';
import { heldClock } from '../support/held-clock.ts';
import { redisOfFile } from '../support/redis-of-file.ts';

const { redis } = await redisOfFile();
const MINUTE = 60_000;

let accounts = 0;
function open() {
  accounts += 1;
  const account = `history-${accounts}`;
  const clock = heldClock();
  const budget = openBudget(redis, clock, account, { requestsPerMinute: 20, reserve: 0.1 });
  return { account, clock, budget };
}

const answered = (remaining: number, resetMs = MINUTE) =>
  ({ kind: 'answered', limit: 20, remaining, resetMs }) as const;

test('requests are counted by class and policy, in the minute and the hour in which their window began', async () => {
  const { clock, budget } = open();
  await clock.advance(MINUTE / 2);
  await budget.learn(await budget.take('person'), answered(19));
  await budget.take('action', undefined, 'nightly-sync');
  // The minute of the clock has passed, the window has not.
  await clock.advance(40_000);
  await budget.takeNow('action', 'nightly-sync');
  await budget.takeNow('follow');

  const minutes = await budget.history('hour');
  expect(minutes).toHaveLength(60);
  expect(minutes.filter(({ spent }) => spent.length > 0)).toEqual([
    {
      at: clock.now() - 70_000,
      ms: MINUTE,
      spent: [
        { class: 'person', requests: 1 },
        { class: 'action', policy: 'nightly-sync', requests: 2 },
        { class: 'follow', requests: 1 },
      ],
    },
  ]);
  const hours = await budget.history('day');
  expect(hours).toHaveLength(24);
  expect(hours.at(-1)?.spent).toContainEqual({ class: 'action', policy: 'nightly-sync', requests: 2 });
  expect(await budget.history('week')).toHaveLength(168);
});

test('what other clients spent is known for windows that were seen to their end, and not known for others', async () => {
  const { clock, budget } = open();
  const began = clock.now();
  // The answer shows five requests that nobody of us sent.
  await budget.learn(await budget.take('action', undefined, 'a'), answered(14));
  const before = await budget.history('hour');
  expect(before.at(-1)).not.toHaveProperty('others');
  await clock.advance(MINUTE);
  await budget.take('action', undefined, 'a');

  const [last, current] = (await budget.history('hour')).slice(-2);
  expect(last).toMatchObject({ at: began, others: 5, limit: 20 });
  expect(current).not.toHaveProperty('others');
});

test('a bucket has a bounded number of policies and an end; further policies count as of none', async () => {
  const { account, clock, budget } = open();
  await budget.learn(await budget.take('person'), answered(19));
  for (let index = 0; index < 220; index += 1) {
    // Each in a window of its own, all in one hour.
    if (index % 8 === 7) {
      await clock.advance(MINUTE);
      await budget.learn(await budget.take('person'), answered(19));
    }
    await budget.take('action', undefined, `policy-${index}`);
  }
  const spent = (await budget.history('day')).flatMap((bucket) => bucket.spent);
  expect(spent.filter(({ policy }) => policy).length).toBeLessThanOrEqual(200);
  const actions = spent.filter((one) => one.class === 'action');
  expect(actions.reduce((sum, { requests }) => sum + requests, 0)).toBe(220);
  const keys = await redis.keys(`{caretaker}:budget:${account}:spent:*`);
  expect(keys.length).toBeGreaterThan(2);
  for (const key of keys) expect(await redis.pttl(key)).toBeGreaterThan(0);
});
