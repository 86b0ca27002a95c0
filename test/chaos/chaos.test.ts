/**
 * A small fixed sample of the chaos that `chaos.long.test.ts` and `npm run chaos` make: the only ordinary test in which
 * whole daemons are killed (SIGKILL) while they work.
 */
import { expect, test } from 'vitest';
import { chaos } from './chaos.ts';
import { conditions } from './conditions.ts';

test('with two kills every sync happens once and every record is correct', async () => {
  const { wrong, effects, kills } = await chaos({
    // Redis is killed, then a daemon; neither is only suspended.
    seed: 5,
    kills: 2,
    conditions: conditions.flaky,
    stories: ['chaos-sync'],
    sites: 80,
    pauseMs: 1_000,
    syncMs: 5_000,
  });

  expect(wrong).toEqual([]);
  expect(effects).toBeGreaterThan(0);
  expect(Object.values(kills).reduce((sum, one) => sum + one, 0)).toBe(2);
});
