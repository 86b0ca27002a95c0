/** The message about a budget that is too small for the schedules of the next 24 hours, and that it fits again. */
import { expect, test } from 'vitest';
import { BUDGET_LOOK_INTERVAL_MS, FITS_AFTER_MS, openBudgetLooks } from '../../src/app/budget-alerts.ts';
import type { BudgetUsage } from '../../src/budget/usage.ts';
import { startReceiver } from '../notify/receiver.ts';
import { activeRun, aWorld, endRun, letterOf, toldTo, webhooks } from '../notify/world.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';

const hourly = aPolicy({ schedule: aSchedule() });

/** Two schedulers, and a policy whose last run needed this number of requests. */
async function started(requests: number) {
  const ops = await startReceiver(204);
  const events = ['budget-cannot-fit', 'budget-fits'] as const;
  const world = await aWorld(webhooks({ ops }, undefined, { group_wait: 0, events: [...events] }));
  const { records, clock } = world;
  const past = { requests, policyHash: hourly.hash, startedAt: clock.now(), planComplete: true as const };
  const run = await activeRun(world, hourly, past);
  await endRun(world, run, 'succeeded');
  await world.notifier.deliverDue();
  const usage: BudgetUsage = { limit: 100, reserved: 0 };
  const budgets = new Map([['default', { usage: async () => usage }]]);
  const schedulers = [1, 2].map(() => openBudgetLooks({ records, clock, policies: () => [hourly], budgets }));
  /** Both look, so many times. */
  const looks = async (times: number) => {
    for (let time = 0; time < times; time += 1) {
      for (const one of schedulers) await one.look();
      await world.notifier.deliverDue();
      await clock.advance(BUDGET_LOOK_INTERVAL_MS);
    }
  };
  return { ops, usage, looks };
}

test('a budget that is too small is reported once by all schedulers, and again that it fits', async () => {
  const { ops, usage, looks } = await started(7_000);
  await looks(1);
  expect(toldTo(ops)).toEqual([]);
  await looks(8);
  expect(toldTo(ops)).toEqual(['system.budget-cannot-fit']);
  expect(letterOf(ops).data).toMatchObject({ account: 'default' });
  expect(letterOf(ops).data.text).toBe(
    [
      'The budget of the account "default" is too small for the schedules of the next 24 hours: they need about 168000 requests, and 144000 are available.',
      'nightly-sync: Its runs would not end before the next one is due.',
      'The page Budget and "caretaker budget" show the forecast.',
    ].join('\n'),
  );

  usage.limit = 200;
  await looks(FITS_AFTER_MS / BUDGET_LOOK_INTERVAL_MS - 1);
  expect(toldTo(ops)).toHaveLength(1);
  await looks(2);
  expect(toldTo(ops)).toEqual(['system.budget-cannot-fit', 'system.budget-fits']);
  expect(letterOf(ops, 1).data.text).toBe(
    'The budget of the account "default" is large enough again for the schedules of the next 24 hours.',
  );
  usage.limit = 100;
  await looks(2);
  expect(toldTo(ops)).toHaveLength(3);
});

test('a budget that is too small at single looks only, as other clients use it, is not reported', async () => {
  const { ops, usage, looks } = await started(5_000);
  for (let time = 0; time < 6; time += 1) {
    usage.othersPerMinute = time % 2 === 0 ? 90 : 0;
    await looks(1);
  }
  expect(toldTo(ops)).toEqual([]);
});
