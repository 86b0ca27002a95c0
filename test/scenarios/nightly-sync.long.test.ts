/** Further ways in which the API is unavailable: see `nightly-sync.test.ts`. */
import { afterEach, expect, test } from 'vitest';
import { aPolicy } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';

let world: World;
afterEach(() => world.stop());

test.each(['refuse', 'reset-before', 'truncate'] as const)(
  'an API that is unavailable for a minute (%s) delays the run and changes nothing else',
  async (kind) => {
    world = await startWorld({ sites: 10 });
    const fired = await world.fire(aPolicy({ limits: { concurrency: 4, maxTargets: 100, maxPercent: 100 } }));
    await world.ended(fired, ({ counts }) => counts.succeeded > 1);
    world.sandbox.outage.begin(kind);
    await world.clock.sleep(60_000);
    world.sandbox.outage.end();

    const run = await world.ended(fired);

    expect(run.counts).toMatchObject({ planned: 10, failed: 0 });
    const synced = world.sandbox.journal.effectsOf('syncSite');
    expect(new Set(synced).size).toBe(synced.length);
  },
);
