/** The page of the budget: what was spent, by whom, and what comes, by a clock that is held. */
import { Redis } from 'ioredis';
import { afterEach, expect, test } from 'vitest';
import { openBudget } from '../../src/budget/budget.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { aSchedule } from '../support/builders.ts';
import { type HeldClock, heldClock } from '../support/held-clock.ts';
import { aPolicy, aRun, ended, remember, startWorld, usersOf, type World } from './world.ts';

let world: World;
let redis: Redis;
afterEach(async () => {
  redis.disconnect();
  await world.stop();
});

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOON = Date.UTC(2026, 10, 24, 12);

async function startWith(
  policies: Policy[],
  more: Parameters<typeof startWorld>[0] = {},
): Promise<HeldClock> {
  const clock = heldClock(NOON);
  world = await startWorld({ clock, policies: () => policies, ...more });
  redis = new Redis({ ...world.redis.options, maxRetriesPerRequest: null });
  return clock;
}

const page = async (query = '', name?: string) => {
  const { status, main } = await world.look(`/budget${query}`, name);
  expect(status).toBe(200);
  return main;
};

/** Spends requests in a window of which five are missing that others spent. */
async function spend(clock: HeldClock, policy: string, count: number): Promise<void> {
  const budget = openBudget(redis, clock, 'default', { requestsPerMinute: 200, reserve: 0.1 });
  const ticket = await budget.take('person');
  await budget.learn(ticket, { kind: 'answered', limit: 200, remaining: 194, resetMs: MINUTE });
  for (let left = count; left > 0; left -= 1) await budget.take('action', undefined, policy);
}

test('shows who spent how much, by class and by policy, and what others spent as far as it is known', async () => {
  const clock = await startWith([aPolicy('nightly-sync')]);
  expect(await page()).toContain('No request was counted in this time.');
  expect(await page()).toContain('not known no answer of the service has shown it');

  await spend(clock, 'nightly-sync', 29);
  await clock.advance(MINUTE);
  await spend(clock, 'updates', 10);

  const byClass = await page();
  expect(byClass).toContain('action 39 95%');
  expect(byClass).toContain('person 2 5%');
  expect(byClass).toContain('Used by others, last hour 5 at least; known for 1 of 60 minutes');
  expect(byClass).toContain('Left now 184 of 200');
  const byPolicy = await page('?span=day&by=policy');
  expect(byPolicy).toContain('nightly-sync 29 71%');
  expect(byPolicy).toContain('no single policy 2 5%');
});

test('says which policies do not fit into the budget, and for which that is not known', async () => {
  const [big, small] = [
    aPolicy('big', { schedule: aSchedule() }),
    aPolicy('small', { schedule: aSchedule({ cron: ['0 20 * * *'] }) }),
  ];
  await startWith([big, small]);
  const run = aRun({
    id: 'big.before',
    policy: 'big',
    policyHash: 'big',
    createdAt: NOON - 5 * HOUR,
    requests: 12_000,
  });
  await remember(world.records, run, [ended('site', 'succeeded')]);
  await world.records.runs.move(run, 'succeeded', { at: NOON - 4 * HOUR });

  const text = await page();

  expect(text).toContain(
    'The budget is too small for big . Its runs would not end before the next one is due.',
  );
  expect(text).toContain('For 1 policy it is not known.');
  expect(text).toContain('small 1 not known nothing not known not known');

  // As "caretaker budget" estimates it.
  await world.records.previews.keepEstimate(small, 1_234);
  expect(await page()).toContain('small 1 1,234 estimate');
  await world.records.previews.keepEstimate({ ...small, hash: 'another version' }, 1_234);
  expect(await page()).toContain('small 1 not known');
});

test('somebody with limits sees the names of their own policies only, and all requests', async () => {
  const clock = await startWith([aPolicy('inside'), aPolicy('outside')], {
    password: null,
    access: () => usersOf({ li: [{ role: 'viewer', policies: ['inside'] }] }),
  });
  await spend(clock, 'inside', 3);
  await spend(clock, 'outside', 4);
  const text = await page('?by=policy', 'li');
  expect(text).toContain('inside 3');
  expect(text).toContain('no single policy 6');
  expect(text).not.toContain('outside');
});
