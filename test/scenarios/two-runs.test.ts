/**
 * One run of a policy shortly after another: effects of the first are never taken for those of the second. Only whole
 * runs against a service with a clock of its own show this.
 */
import { describe, expect, test } from 'vitest';
import type { OperationId } from '../../src/contract/operations.ts';
import { aPolicy } from '../support/builders.ts';
import type { World, WorldOptions } from '../support/caretaker.ts';
import { worldOfTest } from '../support/world-of-test.ts';
import { describeSecondRuns, type Effects, SITES } from './second-runs.ts';

let world: World;

/** Long enough that a sync is in progress when the answer to its request is lost. */
const before: WorldOptions['before'] = async ({ sandbox }) => {
  for (const id of sandbox.siteIds()) sandbox.site(id).syncTakes(5_000);
};
const effectsOf = (operation: OperationId) => world.sandbox.journal.effectsOf(operation).length;

const effects: Effects[] = [
  ['syncs', 'syncSite', { job: 'site-sync' }],
  [
    'notes',
    'createSiteNote',
    {
      job: 'api-call',
      select: { from: 'listSites', filters: {} },
      options: { operation: 'createSiteNote', body: { note: { content: 'Leader.' } } },
    },
  ],
];

describeSecondRuns(effects, () => ({ before }));

describe.each([
  ['seven minutes behind ours', { serviceAheadMs: -7 * 60_000 }],
  ['hours ahead of ours, with lists that lag', { serviceAheadMs: 5 * 3_600_000, listLagMs: 3_000 }],
] as [string, WorldOptions][])('with a service whose clock is %s', (_, options) => {
  test('a site is synced once in each run, and no run waits for its time limit', async () => {
    world = await worldOfTest({ sites: SITES, before, ...options });
    world.sandbox.failNext({ operation: 'syncSite', times: 2 }, 'reset-after');

    const first = await world.ended(await world.fire(aPolicy()));
    const second = await world.ended(await world.fire(aPolicy()));

    for (const run of [first, second])
      expect(run.counts).toMatchObject({ planned: SITES, failed: 0, cancelled: 0 });
    const reasons = Object.values(await world.reasons(first));
    expect(reasons).not.toContain('timeout');
    const synced = first.counts.succeeded + second.counts.succeeded;
    expect(effectsOf('syncSite')).toBe(synced);
  });
});

test('with a service that shows no times, a lost answer is unknown if only the time could identify the effect', async () => {
  world = await worldOfTest({ sites: SITES, before, dateHeader: false });
  world.sandbox.failNext({ operation: 'syncSite', times: 1 }, 'reset-after');

  const run = await world.ended(await world.fire(aPolicy()));

  const reasons = Object.values(await world.reasons(run));
  expect(reasons.filter((reason) => reason === 'unknown-effect')).toHaveLength(run.counts.failed);
  expect(effectsOf('syncSite')).toBe(run.counts.succeeded + run.counts.failed);
});

test('ages are based on the service’s time: a policy with an age selects the same sites with any clock', async () => {
  world = await worldOfTest({ sites: 1, serviceAheadMs: 7 * 60_000, before });
  const { sandbox } = world;
  const synced = async (agoMinutes: number) => {
    sandbox.site('site-0001').lastSynced(agoMinutes * 60_000);
    const where = 'now - site.sync.last_sync_at > duration("5m")';
    const run = await world.ended(await world.fire(aPolicy({ select: { filters: {}, where } })));
    return run.counts.planned;
  };
  expect([await synced(4), await synced(6)]).toEqual([0, 1]);
});

test('a service whose clock runs twenty times as fast is followed by lists, like the sandbox with --speed 20', async () => {
  world = await worldOfTest({ sites: SITES, speedUp: 10, speed: 20, leaps: false, before });
  world.sandbox.failNext({ operation: 'syncSite' }, 'reset-after');

  const run = await world.ended(await world.fire(aPolicy()));

  expect(run.counts.failed).toBe(0);
  expect(effectsOf('syncSite')).toBe(run.counts.succeeded);
  // One for the request whose answer was lost.
  expect(run.requestsByOperation?.['showSite'] ?? 0).toBeLessThanOrEqual(2);
});
