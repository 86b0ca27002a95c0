import { afterEach, expect, test } from 'vitest';
import { isoTime } from '../../src/clock.ts';
import { toSummary } from '../../src/run/report.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import { healthySites } from '../support/quick-syncs.ts';

let world: World;
afterEach(() => world.stop());

const MINUTE = 60_000;

const spreading = aPolicy({ schedule: aSchedule({ overlap: 'allow', spreadMs: MINUTE }) });

// At which time each target starts: `records/target-store.test.ts`.
test('a scheduled run is spread over its window, and a manual run starts all at once', async () => {
  world = await startWorld({ sites: 4, before: healthySites });
  const scheduledFor = world.clock.now();

  const fired = await world.caretaker.engine.fire(spreading, { trigger: 'schedule', scheduledFor });
  const run = await world.ended(fired, ({ status }) => status === 'running');

  const { from, ms, targets } = run.spread ?? { from: Number.NaN, ms: 0, targets: 0 };
  expect([ms, targets]).toEqual([MINUTE, 4]);
  expect(from).toBeGreaterThanOrEqual(scheduledFor);
  expect(toSummary(run).spread).toEqual({ from: isoTime(from), until: isoTime(from + ms), targets });

  const manual = await world.ended(await world.fire(spreading));
  expect(toSummary(manual)).not.toHaveProperty('spread');
});
