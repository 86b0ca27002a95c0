import { afterEach, expect, test } from 'vitest';
import { isoTime } from '../../src/clock.ts';
import { toSummary } from '../../src/run/report.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import { quickSyncs } from '../support/quick-syncs.ts';

let world: World;
afterEach(() => world.stop());

const MINUTE = 60_000;

const spreading = aPolicy({ schedule: aSchedule({ overlap: 'allow', spreadMs: MINUTE }) });

test('a scheduled run starts each site at its time in the window, and a manual run starts all at once', async () => {
  world = await startWorld({ sites: 6, before: quickSyncs });
  const scheduledFor = world.clock.now();

  const fired = await world.caretaker.engine.fire(spreading, { trigger: 'schedule', scheduledFor });
  const run = await world.ended(fired);

  expect(run.status).toBe('succeeded');
  const { from, ms, targets } = run.spread ?? { from: Number.NaN, ms: 0, targets: 0 };
  const started = (await world.targets(run)).flatMap(({ startedAt }) => startedAt ?? []);
  expect(started).toHaveLength(targets);
  expect(ms).toBe(MINUTE);
  started
    .sort((a, b) => a - b)
    .forEach((at, place) => {
      expect(at).toBeGreaterThanOrEqual(from + (place * ms) / targets);
    });

  expect(toSummary(run).spread).toEqual({ from: isoTime(from), until: isoTime(from + ms), targets });

  const manual = await world.ended(await world.fire(spreading));
  expect(toSummary(manual)).not.toHaveProperty('spread');
});
