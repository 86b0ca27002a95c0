/** A selection that suddenly shrinks or grows, is empty, or is gone: the run stops, or says that nothing was done. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isExcessive } from '../../../src/engine/plan/max-change.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { around } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { call } from '../person.ts';

const half = { percent: 50 };

test.each([
  ['no earlier run', 5, [], half, 0, false],
  ['a small plan without a bound of its own', 15, [11], half, 10, false],
  ['within the bound', 15, [10], half, 0, false],
  ['more than half as many again', 16, [10], half, 0, true],
  ['less than half', 4, [10], half, 0, true],
  ['between earlier runs', 40, [5, 90], half, 0, false],
  ['nothing at all', 0, [90, 100], half, 10, true],
  ['everything in place of a few', 300, [20, 30], half, 10, true],
  ['two more than two more', 13, [10], { count: 2 }, 0, true],
  ['two more', 12, [10], { count: 2 }, 0, false],
] as const)('%s', (_, targets, earlier, bound, free, expected) => {
  expect(isExcessive(targets, earlier, bound, free)).toBe(expected);
});

let world: World;
beforeAll(async () => {
  world = await startWorld({ before: quickSyncs, sites: 6 });
});
afterAll(() => world.stop());

const ids = () => world.sandbox.siteIds();
/** The hash stays the same: the account has changed, not the policy. */
const over = (name: string, sites: readonly string[], changes: Partial<Policy> = {}): Policy =>
  aPolicy({
    name,
    hash: name,
    select: { filters: {}, where: `site.id in [${sites.map((id) => `"${id}"`).join(', ')}]` },
    ...changes,
  });
const bounded = { limits: { ...aPolicy().limits, maxChange: half } } as const;

const started = (policy: Policy, trigger: 'schedule' | 'manual') =>
  world.caretaker.engine.fire(policy, { trigger, scheduledFor: world.clock.now() });

describe('limits.max_change', () => {
  test('stops a run that nobody started before its first effect, and a person carries it out', async () => {
    await world.ended(await started(over('bounded', ids().slice(0, 2), bounded), 'manual'));
    const effects = world.sandbox.journal.effectsOf('syncSite').length;

    const grown = over('bounded', ids(), bounded);
    const stopped = await world.ended(await started(grown, 'schedule'));
    const preview = await world.caretaker.engine.preview(grown);
    expect(stopped.status).toBe('stopped');
    const said =
      'The plan has 6 targets and the run before had 2, a change of more than 50% (limits.max_change).';
    expect(stopped.detail).toBe(
      `${said} Look at "caretaker plan bounded"; if it is right, "caretaker run bounded" carries it out.`,
    );
    expect(preview.warnings).toEqual([expect.stringContaining(said)]);
    expect(world.sandbox.journal.effectsOf('syncSite')).toHaveLength(effects);

    const manual = await world.ended(await started(grown, 'manual'));
    expect([manual.status, manual.detail]).toEqual(['succeeded', said]);
    expect((await world.ended(await started(grown, 'schedule'))).status).toBe('succeeded');
  });

  test('does not apply to work that can do no harm without a bound of its own', async () => {
    await world.ended(await started(over('free', ids().slice(0, 1)), 'manual'));
    expect((await world.ended(await started(over('free', ids()), 'schedule'))).status).toBe('succeeded');
  });
});

describe('a run in which nothing was worked on says so', () => {
  test('when its selection is suddenly empty', async () => {
    await world.ended(await started(over('empty', ids().slice(0, 3)), 'manual'));
    const run = await world.ended(await started(over('empty', ['site-0000']), 'schedule'));
    expect(run.status).toBe('succeeded');
    expect(run.detail).toMatch(
      /Nothing was done: no target was selected, and the run before had 3 targets\.$/,
    );
  });

  test('when all of its targets are skipped', async () => {
    const [away = ''] = ids();
    world.sandbox.site(away).disconnect();
    const run = await world.ended(await started(over('skipped', [away]), 'schedule'));
    expect(run.detail).toBe('Nothing was done: the only target ended without work (1 not-eligible).');
  });
});

test('a run in which more than a few targets are gone stops', async () => {
  const fresh = await worldOfTest({ before: quickSyncs, sites: 12 });
  const [, ...others] = fresh.sandbox.siteIds();
  let isFirst = true;
  // The other sites are deleted directly before the first sync is asked for.
  around(fresh.caretaker.link('default').client, 'call', async (send, operation) => {
    if (operation === 'syncSite' && isFirst) {
      isFirst = false;
      for (const site_id of others) await call(fresh, 'deleteSite', { site_id });
    }
    return send();
  });
  const limits = { ...aPolicy().limits, concurrency: 1 };
  const run = await fresh.ended(
    await fresh.fire(aPolicy({ limits, select: { filters: {}, sort: 'created_at,asc' } })),
  );

  expect(run.status).toBe('stopped');
  expect(run.detail).toMatch(/^Stopped after 4 of 12 targets were gone: the plan does not fit the account/);
  expect(run.counts).toMatchObject({ succeeded: 1, skipped: 11 - run.counts.cancelled });
});
