/** update-check with `thresholds`: how long a problem may last depends on the site. */
import { describe, expect, test } from 'vitest';
import { updateCheck } from '../../../jobs/update-check/job.ts';
import { around } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import type { World } from '../../support/caretaker.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { asPerson, targetsAfter } from '../acting.ts';
import { mistakesOf } from '../policies.ts';

const DAY = 86_400_000;
let world: World;
const call = asPerson(() => world);

/** Two sites with an outdated core that no schedule updates; the first has the tag premium. */
async function withOutdatedSites() {
  // The minute of a first check does not end while it works.
  world = await worldOfTest({ sites: 2, speedUp: 5 });
  const { auto_update_schedules: planted } = await call('listAutoUpdateSchedules', {});
  for (const { id } of planted) await call('deleteAutoUpdateSchedule', { auto_update_schedule_id: id });
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).coreIs({ current: '6.8.2' });
  const { tag } = await call('createTag', { body: { tag: { name: 'premium' } } });
  await call('assignTag', { tag_id: tag.id, body: { site_ids: ['site-0001'] } });
}

const premium = { where: 'site.tags.exists(t, t.name == "premium")', max_age: '2d' };
const others = { max_age: '14d' };

const check = (thresholds: object[]) => {
  const options = updateCheck.options.parse({ thresholds });
  return targetsAfter(world, aPolicy({ name: 'updates', job: 'update-check', options }));
};
const outcomes = (targets: Awaited<ReturnType<typeof check>>) =>
  Object.fromEntries(Object.values(targets).map(({ id, outcome }) => [id, outcome]));

describe('a site whose core has a problem', () => {
  test('fails when the problem has lasted as long as the first threshold that holds for it allows', async () => {
    await withOutdatedSites();
    const thresholds = [premium, others];

    const first = await check(thresholds);
    world.clock.leap(2 * DAY);
    const second = await check(thresholds);
    world.clock.leap(12 * DAY);
    const third = await check(thresholds);

    expect(outcomes(first)).toEqual({ 'site:site-0001': 'skipped', 'site:site-0002': 'skipped' });
    expect(first['site:site-0001']).toMatchObject({
      reason: 'uncovered',
      detail: expect.stringMatching(/Known since 2026-11-21 12:0.Z; it may last 2d\.$/),
      findings: [{ severity: 'warning', about: 'uncovered' }],
    });
    expect(outcomes(second)).toEqual({ 'site:site-0001': 'failed', 'site:site-0002': 'skipped' });
    expect(second['site:site-0001']).toMatchObject({
      reason: 'uncovered',
      detail: first['site:site-0001']?.detail,
      findings: [{ severity: 'error', about: 'uncovered' }],
    });
    expect(outcomes(third)).toEqual({ 'site:site-0001': 'failed', 'site:site-0002': 'failed' });
  });

  test('fails at once when no threshold holds for it', async () => {
    await withOutdatedSites();

    expect(outcomes(await check([premium]))).toEqual({
      'site:site-0001': 'skipped',
      'site:site-0002': 'failed',
    });
  });

  test('counts the time of a problem from its return, after a check that did not report it', async () => {
    await withOutdatedSites();
    await check([premium]);
    world.clock.leap(1.5 * DAY);
    world.sandbox.site('site-0001').coreIs({ current: '6.8.3' });
    await check([premium]);
    world.sandbox.site('site-0001').coreIs({ current: '6.8.2' });
    world.clock.leap(DAY);

    expect((await check([premium]))['site:site-0001']).toMatchObject({ outcome: 'skipped' });
  });

  test('fails at once when the service does not show what the condition needs', async () => {
    await withOutdatedSites();
    around(world.caretaker.link('default').client, 'call', async (send, asked) => {
      const answer: unknown = await send();
      if (asked === 'showSite') delete (answer as { site: { tags?: unknown } }).site.tags;
      if (asked === 'listSites')
        for (const site of (answer as { sites: { tags?: unknown }[] }).sites) delete site.tags;
      return answer as never;
    });

    expect(outcomes(await check([premium, others]))).toEqual({
      'site:site-0001': 'failed',
      'site:site-0002': 'failed',
    });
  });
});

test.each([
  ['[{ where: site.locked, max_age: 2d }, { max_age: 14d }]', []],
  ['[{ where: site.lockd, max_age: 2d }]', ['0:29 site has no field "lockd". did you mean locked?']],
  ['[{ where: site.url, max_age: 2d }]', ['0:24 The condition must be true or false, but it is string.']],
  [
    '[{ max_age: 2d }, { where: site.locked, max_age: 2d }]',
    [
      '0:15 A threshold without "where" is for all sites, so those after it would never apply. move it to the end',
    ],
  ],
])('thresholds %s are checked when the policy is loaded, with their place', (thresholds, faults) => {
  expect(mistakesOf(updateCheck, '{}', `{ thresholds: ${thresholds} }`)).toEqual(faults);
});
