/** A person looks at the rings of a policy, holds them and releases a version, by command and page. */
import { beforeEach, expect, test } from 'vitest';
import { updateRings } from '../../jobs/update-rings/job.ts';
import { carryOut } from '../../src/control/carry-out.ts';
import {
  holdRings,
  type RingsAnswer,
  releaseVersion,
  showRings,
  unholdRings,
} from '../../src/control/commands/rings.ts';
import { showSite } from '../../src/control/commands/show-site.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { aPolicy } from '../support/builders.ts';
import type { World } from '../support/caretaker.ts';
import { healthySites } from '../support/quick-syncs.ts';
import { worldOfTest } from '../support/world-of-test.ts';
import { actor } from './acting.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const BAD = 'contact-form/contact-form.php';
const by = actor([{ role: 'operator' }, { role: 'approver' }]);
const policy: Policy = aPolicy({
  name: 'safe',
  job: 'update-rings',
  options: updateRings.options.parse({
    rings: [
      { name: 'canary', where: 'site.id in ["site-0001", "site-0002", "site-0003"]' },
      { name: 'rest' },
    ],
    native: { backup: false },
    soak: '24h',
  }),
});
let world: World;
const deps = () => ({
  ...world.caretaker,
  policy: (name: string) => [policy, aPolicy({ name: 'sync' })].find((one) => one.name === name),
  policies: () => [policy],
});
const look = async () => world.ended(await world.fire(policy));
const rings = (): Promise<RingsAnswer> => carryOut(showRings, deps(), { policy: 'safe' }, by);
async function statuses() {
  const { auto_update_schedules: all } = await world.caretaker
    .link('default')
    .client.call('listAutoUpdateSchedules', {}, { requestClass: 'person' });
  return Object.fromEntries(
    all.flatMap(({ name, status }) => {
      const ring = /safe\/(.*)\]/.exec(name ?? '')?.[1];
      return ring === undefined ? [] : [[ring, status]];
    }),
  );
}

beforeEach(async () => {
  world = await worldOfTest({ sites: 6, before: healthySites });
  for (const id of world.sandbox.siteIds()) {
    const site = world.sandbox.site(id);
    site.coreIs({ current: '6.8.3' });
    site.fallBehind();
  }
});

/** The canaries update, and a version breaks them. */
async function breakCanaries(): Promise<void> {
  await look();
  world.sandbox.schedules.breakSites([{ filename: BAD, afterMs: HOUR }]);
  const { rings: all } = await rings();
  world.sandbox.schedule(all[0]?.schedule?.id ?? '').runNow(60_000);
  world.clock.leap(2 * DAY);
  await look();
}

test('before a run has looked, for a policy without rings and for a ring that it does not have, it says so', async () => {
  await expect(rings()).rejects.toThrow('No run of safe has looked at its rings in the last 30 days');
  await expect(carryOut(showRings, deps(), { policy: 'sync' }, by)).rejects.toThrow(
    'The policy sync has no rings: its job is site-sync.',
  );
  await expect(carryOut(holdRings, deps(), { policy: 'safe', ring: 'early' }, by)).rejects.toThrow(
    'The policy has no ring "early"; it has canary, rest.',
  );
});

test('the rings show what each does and why, what was taken and what broke; the site shows its ring', async () => {
  await breakCanaries();
  const { rings: all, at, run } = await rings();

  expect([all.map(({ name, sites, is }) => ({ name, sites, is })), run.startsWith('safe.'), at]).toEqual([
    [
      { name: 'canary', sites: 3, is: 'run' },
      { name: 'rest', sites: 3, is: 'hold' },
    ],
    true,
    expect.any(String),
  ]);
  expect(all[0]?.broken.map(({ why }) => why)).toContain('it is disconnected');
  expect(all[0]?.versions.find(({ item }) => item === `plugin ${BAD}`)).toMatchObject({ is: 'doubted' });
  const view = await carryOut(showSite, deps(), { site: 'site-0001' }, by);
  expect(view.policies[0]?.ring).toMatchObject({
    ring: 'canary',
    took: expect.arrayContaining([expect.objectContaining({ item: `plugin ${BAD}` })]),
  });
});

test('a ring that a person holds is paused by the next run, until the hold is ended', async () => {
  await look();
  expect(await statuses()).toEqual({ canary: 'active', rest: 'paused' });

  await carryOut(holdRings, deps(), { policy: 'safe', reason: 'Black Friday' }, by);
  expect((await rings()).rings.map(({ held }) => held?.reason)).toEqual(['Black Friday', 'Black Friday']);
  const run = await look();
  expect([run.status, await statuses()]).toEqual(['succeeded', { canary: 'paused', rest: 'paused' }]);
  expect((await world.targets(run)).map(({ detail }) => detail)).toContainEqual(
    expect.stringMatching(/^It is held\. anna holds it since .*: Black Friday\.$/),
  );
  world.clock.leap(150 * DAY);
  await look();
  expect(await statuses()).toEqual({ canary: 'paused', rest: 'paused' });

  expect(await carryOut(unholdRings, deps(), { policy: 'safe', ring: 'canary' }, by)).toMatchObject({
    rings: ['canary'],
  });
  await look();
  expect(await statuses()).toEqual({ canary: 'active', rest: 'paused' });
});

test('a version that a person releases reaches the next ring, and only the one that was taken can be', async () => {
  await breakCanaries();
  const { rings: all } = await rings();
  const doubted = all[0]?.versions.filter(({ is }) => is === 'doubted') ?? [];
  await expect(
    carryOut(releaseVersion, deps(), { policy: 'safe', item: `plugin ${BAD}`, version: '0.0.1' }, by),
  ).rejects.toThrow('not 0.0.1. Nothing was released.');
  for (const { item, version } of doubted)
    await carryOut(releaseVersion, deps(), { policy: 'safe', item, version }, by);
  await look();

  const after = await rings();
  expect(after.rings[1]?.is).toBe('promote');
  expect(after.released).toHaveLength(doubted.length);
  expect(await statuses()).toMatchObject({ rest: 'active' });
});
