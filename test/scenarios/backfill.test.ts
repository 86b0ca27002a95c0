import { afterEach, describe, expect, test } from 'vitest';
import type { Policy } from '../../src/policy/policy.ts';
import type { Run } from '../../src/run/run.ts';
import { planBackfill, queued, type Reprocess } from '../../src/schedule/backfill.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import { NOON } from '../support/held-clock.ts';
import { quickSyncs } from '../support/quick-syncs.ts';

const HOUR = 3_600_000;

let world: World;
afterEach(() => world.stop());

const hourly = (changes: Partial<NonNullable<Policy['schedule']>> = {}): Policy =>
  aPolicy({ schedule: aSchedule(changes) });

/**
 * Used for every query of a test. It is between two scheduled times of an hourly policy, so that none of them
 * becomes due meanwhile.
 */
const NOW = NOON + HOUR / 2;

function planned(policy: Policy, hours: number, reprocess: Reprocess = 'none') {
  const range = { from: NOW - hours * HOUR, to: NOW + HOUR };
  return planBackfill(world.caretaker.records, policy, range, reprocess, NOW);
}

async function backfilled(policy: Policy, hours: number, reprocess?: Reprocess): Promise<Run[]> {
  const runs: Run[] = [];
  for (const { fires, scheduledFor, attempt } of await planned(policy, hours, reprocess)) {
    if (!fires) continue;
    const firing = { trigger: 'backfill' as const, scheduledFor, attempt };
    runs.push(await world.caretaker.engine.fire(queued(policy), firing));
  }
  return runs;
}

describe('a backfill', () => {
  test('catches up each scheduled time without a run, one run after the other, and is not repeated', async () => {
    world = await startWorld({ sites: 2, before: quickSyncs });
    const policy = hourly();
    const runs = await backfilled(policy, 3);

    const ended: Run[] = [];
    for (const run of runs) ended.push(await world.ended(run));

    expect(runs).toHaveLength(3);
    expect(ended.map(({ status, trigger }) => [status, trigger])).toEqual(
      runs.map(() => ['succeeded', 'backfill']),
    );
    for (const [index, run] of ended.entries())
      expect(run.startedAt).toBeGreaterThanOrEqual(ended[index - 1]?.finishedAt ?? 0);
    const times = runs.map(({ scheduledFor }) => scheduledFor);
    const ledger = await world.caretaker.records.ledger.between(
      policy.name,
      times[0] ?? 0,
      times.at(-1) ?? 0,
      9,
    );
    expect(ledger.map(({ scheduledFor: moment, is, run }) => [moment, is, run])).toEqual(
      runs.map(({ id, scheduledFor }) => [scheduledFor, 'ran', id]),
    );
    expect((await planned(policy, 2)).filter(({ fires }) => fires)).toEqual([]);
    const again = await backfilled(policy, 2, 'all');
    expect(again.map(({ id }) => id.endsWith('-backfill2'))).toEqual(again.map(() => true));
  });

  test("keeps the ledger's record of a scheduled time, and adds the run that caught it up", async () => {
    world = await startWorld({ sites: 1, work: false });
    const policy = hourly();
    const { records } = world.caretaker;
    const [moment = 0] = (await planned(policy, 1)).map((one) => one.scheduledFor);
    const record = {
      scheduledFor: moment,
      is: 'skipped' as const,
      why: 'paused' as const,
      at: moment,
      note: 'by anna',
    };
    await records.ledger.record(policy.name, [record], { to: moment, schedule: 'x' });

    expect(await planned(policy, 1)).toMatchObject([{ fires: true, because: 'skipped: paused by anna' }]);
    const [run] = await backfilled(policy, 1);
    expect(await records.ledger.latest(policy.name, 1)).toEqual([{ ...record, backfill: run?.id }]);
  });

  test('repeats failed runs only on request, and never runs that are active, succeeded, or removed', async () => {
    world = await startWorld({ sites: 1, work: false });
    const policy = hourly();
    const { records } = world.caretaker;
    const runs = await backfilled(policy, 4);
    expect((await planned(policy, 4, 'all')).filter(({ fires }) => fires)).toEqual([]);
    const ends = [['failed'], ['cancelled'], ['planning', 'running', 'succeeded']] as const;
    for (const [index, statuses] of ends.entries())
      for (const status of statuses)
        await records.runs.move(runs[index] as Run, status, { at: world.clock.now() });
    await world.caretaker.redis.store.del(`{caretaker}:run:${runs[3]?.id}`);

    const firing = async (reprocess: Reprocess) =>
      (await planned(policy, 4, reprocess)).map(({ fires }) => fires);
    expect(await firing('none')).toEqual([false, false, false, false]);
    expect(await firing('failed')).toEqual([true, true, false, false]);
    expect((await planned(policy, 1)).map(({ because }) => because)).toEqual([
      `${runs[3]?.id}, which is no longer stored`,
    ]);
  });

  test('skips blackout days, runs in parallel if runs may overlap, and rejects a range that is too long', async () => {
    world = await startWorld({ sites: 1, work: false });
    const blackout = [{ from: '2000-01-01', to: '2100-01-01' }];
    expect(await planned(hourly({ blackout }), 1)).toMatchObject([
      { fires: false, because: 'blackout: 2000-01-01 to 2100-01-01' },
    ]);
    expect(queued(hourly({ overlap: 'allow' })).schedule?.overlap).toBe('allow');
    await expect(planned(hourly(), 600)).rejects.toThrow(/more than 500 scheduled times.*shorter range/);
    await expect(planned(aPolicy(), 1)).rejects.toThrow('has no schedule');
  });
});
