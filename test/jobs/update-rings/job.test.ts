/** Rings against the sandbox: schedules made and kept, promotion, what happens when sites break, lost answers. */
import { expect, test } from 'vitest';
import { updateRings } from '../../../jobs/update-rings/job.ts';
import { localPrincipal } from '../../../src/access/principal.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import type { Run } from '../../../src/run/run.ts';
import { aPolicy } from '../../support/builders.ts';
import type { World, WorldOptions } from '../../support/caretaker.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { asPerson } from '../acting.ts';
import { mistakesOf, policyOf } from '../policies.ts';

let world: World;

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const always = { when: 'always', expiresMs: 7 * DAY } as const;
const call = asPerson(() => world);

const first = 'site.id in ["site-0001", "site-0002", "site-0003", "site-0004", "site-0005", "site-0006"]';
const options = (changes: object = {}) => ({
  rings: [{ name: 'canary', where: first }, { name: 'rest' }],
  native: { backup: false },
  soak: '24h',
  evidence: { min_sites: 1 },
  ...changes,
});
const policy = (changes: object = {}): Policy =>
  aPolicy({ name: 'safe', job: 'update-rings', options: updateRings.options.parse(options(changes)) });

/** Twelve healthy sites with updates, of which the first six are the canaries. */
async function start(more: WorldOptions = {}): Promise<void> {
  world = await worldOfTest({ sites: 12, ...more });
  for (const id of world.sandbox.siteIds()) {
    world.sandbox.site(id).connect();
    world.sandbox.site(id).lock(false);
    world.sandbox.site(id).pause(false);
    world.sandbox.site(id).underMaintenance(false);
    world.sandbox.site(id).coreIs({ current: '6.8.3' });
    world.sandbox.site(id).fallBehind();
  }
  const { auto_update_schedules: all } = await call('listAutoUpdateSchedules', {});
  for (const { id, status } of all)
    if (status === 'active') await call('disableAutoUpdateSchedule', { auto_update_schedule_id: id });
}

const look = async (one = policy()): Promise<Run> => world.ended(await world.fire(one));
async function rings() {
  const { auto_update_schedules: all } = await call('listAutoUpdateSchedules', {});
  const ours = all.filter(({ name }) => name?.includes('[caretaker safe/'));
  return Object.fromEntries(ours.map((one) => [/safe\/(.*)\]/.exec(one.name ?? '')?.[1], one]));
}
const idOf = async (ring: string) => (await rings())[ring]?.id ?? '';
const targetsOf = async (run: Run) =>
  Object.fromEntries((await world.targets(run)).map((one) => [one.id, one]));
/** The first ring updates its sites, and time passes until they have soaked and synced. */
async function prove(soakMs = 2 * DAY): Promise<void> {
  await look();
  world.sandbox.schedule(await idOf('canary')).runNow(60_000);
  world.clock.leap(soakMs);
}

test('each ring gets its schedule: the first runs, the later is paused, and a person’s stay as they are', async () => {
  await start();
  const { auto_update_schedules: before } = await call('listAutoUpdateSchedules', {});
  const run = await look();
  const { canary, rest } = await rings();
  expect(run).toMatchObject({ status: 'succeeded', counts: { succeeded: 2, failed: 0 } });
  expect(await world.reasons(run)).toMatchObject({ 'ring:canary': 'done', 'ring:rest': 'done' });
  expect(canary).toMatchObject({
    status: 'active',
    scope: {
      sites: { ids: expect.arrayContaining(['site-0001', 'site-0006']) },
      updates: { plugins: { selection: 'all' } },
    },
  });
  expect(rest).toMatchObject({ status: 'paused' });
  expect(rest?.scope?.sites?.ids).toHaveLength(6);

  const effects = world.sandbox.journal.effects.length;
  expect(await look()).toMatchObject({ status: 'succeeded' });
  expect(world.sandbox.journal.effects).toHaveLength(effects);
  const { auto_update_schedules: after } = await call('listAutoUpdateSchedules', {});
  expect(after).toEqual(expect.arrayContaining(before));

  // The schedule of a ring that the policy no longer has is paused.
  await look(policy({ rings: [{ name: 'few', where: first }, { name: 'rest' }] }));
  const renamed = await rings();
  expect([renamed['canary']?.status, renamed['few']?.status]).toEqual(['paused', 'active']);
});

test('what was proven goes on to the next ring, for one run, even if a person deleted the schedule that proved it', async () => {
  await start();
  await prove();
  const auto_update_schedule_id = await idOf('canary');
  await call('deleteAutoUpdateSchedule', { auto_update_schedule_id });
  await look();
  expect((await rings())['canary']).toMatchObject({ status: 'active' });
  const { rest } = await rings();
  expect(rest).toMatchObject({
    status: 'active',
    scope: { updates: { plugins: { selection: 'specific' } } },
  });
  expect(rest?.scope?.updates?.plugins?.filenames).toContain('contact-form/contact-form.php');
  expect(Date.parse(rest?.next_update_at ?? '')).toBeLessThan(world.clock.now() + DAY + 2 * HOUR);
  world.sandbox.schedule(await idOf('rest')).runNow(60_000);
  world.clock.leap(HOUR);
  await look();
  expect((await rings())['rest']).toMatchObject({ status: 'paused' });
});

test('an approved run enables the next ring for nothing that was proven since the plan', async () => {
  await start();
  await prove(HOUR);
  const approved = { ...policy({ native: { backup: true } }), approval: always };
  const run = await world.ended(await world.fire(approved), ({ status }) => status === 'awaiting-approval');
  world.clock.leap(2 * DAY);
  await world.caretaker.engine.approve(run.id, { by: localPrincipal('anna') });
  await world.ended(run);
  const { rest } = await rings();
  expect(rest).toMatchObject({ status: 'paused', options: { backup: true } });
});

test('when sites break, the next ring stays paused, and they get one note each once the service shows what notes say', async () => {
  await start();
  world.sandbox.schedules.breakSites([{ filename: 'contact-form/contact-form.php', afterMs: HOUR }]);
  await prove();
  const noting = policy({
    rings: [{ name: 'canary', where: 'site.id < "site-0007"' }, { name: 'rest' }],
    when_bad: { note_on_sites: true },
  });
  const ofPerson = { note: { content: 'by a person' } };
  for (const site_id of world.sandbox.siteIds().slice(0, 6))
    await call('createSiteNote', { site_id, body: ofPerson });
  const show = world.sandbox.hide('listSiteNotes', 'content');
  const canary = (await targetsOf(await look(noting)))['ring:canary'];
  expect((await rings())['rest']).toMatchObject({ status: 'paused' });
  expect(canary).toMatchObject({ outcome: 'failed', reason: 'ring-broke' });
  const findings = canary?.findings ?? [];
  expect(findings.some(({ message }) => message.includes('it is disconnected'))).toBe(true);
  expect(findings.map(({ severity }) => severity)).toEqual(expect.arrayContaining(['error', 'warning']));
  const ofRing = (id: string) =>
    world.sandbox
      .site(id)
      .notes()
      .filter((note) => note.includes('ring canary'));
  expect(ofRing('site-0001')).toEqual([]);
  show();
  // The account no longer has this one: the others get their notes.
  await call('deleteSite', { site_id: 'site-0003' });
  await look(noting);
  await look(noting);
  for (const id of ['site-0001', 'site-0006']) expect(ofRing(id)).toHaveLength(1);
});

test('a site that was not well before the updates is no evidence, and holds nothing', async () => {
  await start();
  await look();
  world.sandbox.site('site-0002').disconnect();
  await look();
  world.sandbox.schedule(await idOf('canary')).runNow(60_000);
  world.clock.leap(2 * DAY);
  const targets = await targetsOf(await look());
  expect(targets['ring:canary']).toMatchObject({ outcome: 'succeeded' });
  expect(targets['ring:canary']?.findings).toBeUndefined();
  expect((await rings())['rest']).toMatchObject({ status: 'active' });
});

/** A check that finds an error on each site with such an id. */
const check = (where: string) =>
  aPolicy({
    ...{ name: 'shops', job: 'check', options: { severity: 'error', message: 'The shop is down.' } },
    select: { from: 'listSites', filters: {}, where },
  });
const withCheck = () => policy({ evidence: { min_sites: 1, findings_of: ['shops'] } });

test('an error that a named check found on a site after its updates holds the next ring', async () => {
  await start();
  await look(check('site.id == "site-0003"'));
  await prove();
  await look(check('site.id in ["site-0002", "site-0003"]'));
  const targets = await targetsOf(await look(withCheck()));
  expect(targets['ring:canary']?.findings?.map(({ message }) => message)).toEqual([
    expect.stringContaining('shops found: The shop is down.'),
  ]);
  expect((await rings())['rest']).toMatchObject({ status: 'paused' });
});

test('the next ring waits until a named check has looked at the sites after their updates', async () => {
  await start();
  await look(check('site.id == ""'));
  await prove();
  const targets = await targetsOf(await look(withCheck()));
  expect(targets['ring:rest']?.detail).toContain('shops has not checked it since the update');
  expect((await rings())['rest']).toMatchObject({ status: 'paused' });
  await look(check('site.id == ""'));
  await look(withCheck());
  expect((await rings())['rest']).toMatchObject({ status: 'active' });
});

test('a task of a later ring that has not started is cancelled when the ring must hold', async () => {
  // In this time a task stays long enough in its first state.
  await start({ speedUp: 2, leaps: false });
  world.sandbox.schedules.breakSites([{ filename: 'contact-form/contact-form.php', afterMs: HOUR }]);
  await prove();
  await call('updateAutoUpdateSchedule', {
    auto_update_schedule_id: await idOf('rest'),
    body: { auto_update_schedule: { scope: { updates: { plugins: { selection: 'all' } } } } },
  });
  const holding = policy({ when_bad: { quarantine: false } });
  const task_id = world.sandbox.schedule(await idOf('rest')).runNow(HOUR) ?? '';
  expect((await targetsOf(await look(holding)))['ring:rest']).toMatchObject({
    reason: 'ring-holds',
    detail: expect.stringContaining('contact-form/contact-form.php'),
  });
  expect((await call('showTask', { task_id })).task.status).toBe('cancelled');
});

test('what the service does not show of a schedule or a failed run is no reason to change anything', async () => {
  await start();
  await look();
  const { journal } = world.sandbox;
  const effects = journal.effects.length;
  const shows = (['listAutoUpdateSchedules', 'showAutoUpdateSchedule'] as const).map((operation) =>
    world.sandbox.hide(operation, 'scope.sites.ids'),
  );
  expect(await look()).toMatchObject({ status: 'failed' });
  expect(journal.effects).toHaveLength(effects);
  for (const show of shows) show();

  world.sandbox.hide('showTask', 'task.details');
  world.sandbox.site('site-0001').failNextSync('disk full');
  world.sandbox.schedule(await idOf('canary')).runNow(60_000);
  world.clock.leap(3 * DAY);
  const targets = await targetsOf(await look());
  expect(targets['ring:rest']?.detail).toContain('what its update did is not shown');
  expect((await rings())['rest']?.scope?.updates?.plugins?.filenames).not.toContain(
    'contact-form/contact-form.php',
  );
});

test('a schedule that a person changed is set back, or only reported, and one that updates sites of the rings too is a warning', async () => {
  await start();
  await look();
  const change = async () =>
    call('updateAutoUpdateSchedule', {
      auto_update_schedule_id: await idOf('canary'),
      body: { auto_update_schedule: { options: { backup: true } } },
    });
  await change();
  const fewer = { rings: [{ name: 'canary', where: 'site.id == "site-0001"' }, { name: 'rest' }] };
  const reported = await targetsOf(await look(policy({ drift: 'report', ...fewer })));
  expect(reported['ring:canary']?.findings).toMatchObject([
    { message: expect.stringContaining('options is backup, not none') },
  ]);
  expect((await rings())['canary']).toMatchObject({
    options: { backup: true },
    scope: { sites: { ids: ['site-0001'] } },
  });
  const corrected = await targetsOf(await look());
  expect(corrected['ring:canary']?.findings).toMatchObject([
    { message: expect.stringContaining('options is backup, not none') },
  ]);
  expect((await rings())['canary']).toMatchObject({ options: { backup: false } });

  await call('enableAutoUpdateSchedule', { auto_update_schedule_id: 'schedule-0003' });
  const beside = await targetsOf(await look());
  expect(beside['ring:canary']?.findings).toMatchObject([
    {
      severity: 'warning',
      about: 'schedule-0003',
      message:
        'The schedule "Nightly plugins" updates 4 sites of the rings too, with what no ring has proven: pause it.',
    },
  ]);
});

test('lost answers leave each ring once and right', async () => {
  await start();
  const changes = [
    'createAutoUpdateSchedule',
    'updateAutoUpdateSchedule',
    'disableAutoUpdateSchedule',
  ] as const;
  for (const operation of changes) world.sandbox.failNext({ operation }, 'reset-after');
  await look();
  const { canary, rest } = await rings();
  expect(world.sandbox.journal.effectsOf('createAutoUpdateSchedule')).toHaveLength(2);
  expect([canary?.status, rest?.status]).toEqual(['active', 'paused']);
});

test('a list that shows a new schedule late leads to no second one', async () => {
  await start({ listLagMs: 60_000 });
  await look();
  expect(world.sandbox.journal.effectsOf('createAutoUpdateSchedule')).toHaveLength(2);
});

test('mistakes in the rings are reported with their place', () => {
  expect(policyOf(updateRings, '{}', '{ rings: [{ name: a, percent: 5% }, { name: b }] }').job).toBe(
    'update-rings',
  );
  const mistakes = mistakesOf(
    updateRings,
    '{}',
    '{ rings: [{ name: a }, { name: a, where: site.colour == "x", percent: 5% }, { name: c }], lookback: 2d, soak: 3d, native: { apart: 12h } }',
  );
  expect(mistakes.join('\n')).toMatch(
    /Two rings are called "a"[\s\S]*would get none[\s\S]*longer than "soak"[\s\S]*a day or more after the first/,
  );
});
