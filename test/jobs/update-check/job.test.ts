/** What an update check reports, and every reason that it can give, each caused at the service. */
import { describe, expect, test } from 'vitest';
import { updateCheck } from '../../../jobs/update-check/job.ts';
import { GoneError, RejectedError } from '../../../src/client/errors.ts';
import type { Input } from '../../../src/contract/operations.ts';
import type { Acting } from '../../../src/job/job.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import type { Run, Target } from '../../../src/run/run.ts';
import { around } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { until, type World, type WorldOptions } from '../../support/caretaker.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { asPerson } from '../acting.ts';

let world: World;

const HOUR = 3_600_000;
const client = () => world.caretaker.link('default').client;
const call = asPerson(() => world);
const iso = (ms: number) => new Date(ms).toISOString();

/** An account with six sites and no auto update schedules. */
async function startAccount(options: WorldOptions = {}): Promise<void> {
  world = await worldOfTest({ sites: 6, ...options });
  const { auto_update_schedules: planted } = await call('listAutoUpdateSchedules', {});
  for (const { id } of planted) await call('deleteAutoUpdateSchedule', { auto_update_schedule_id: id });
  for (const id of world.sandbox.siteIds()) {
    // The latest version, so that there is nothing to report about the site itself.
    world.sandbox.site(id).coreIs({ current: '6.8.3' });
  }
}

type Fields = Input<'createAutoUpdateSchedule'>['body']['auto_update_schedule'];

/** A daily schedule for plugins, which started an hour ago and is due in 23 hours. */
async function addSchedule(sites: string[], changes: Partial<Fields> = {}): Promise<string> {
  const auto_update_schedule: Fields = {
    name: 'Plugins',
    schedule: 'daily',
    started_at: iso(world.clock.now() - HOUR),
    scope: { sites: { selection: 'specific', ids: sites }, updates: { plugins: { selection: 'all' } } },
    options: { backup: false, visual_regression: false },
    ...changes,
  };
  const made = await call('createAutoUpdateSchedule', { body: { auto_update_schedule } });
  return made.auto_update_schedule.id;
}

const coreOf = (sites: string[]): Pick<Fields, 'scope'> => ({
  scope: { sites: { selection: 'specific', ids: sites }, updates: { wordpress_core: true } },
});

/** Starts a run of a schedule that has something to update, and gives its task. */
function runNow(schedule: string, takesMs = 15_000): string {
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).fallBehind();
  return world.sandbox.schedule(schedule).runNow(takesMs) ?? '';
}

/** A run of a schedule whose task has ended. */
async function runToTheEnd(schedule: string): Promise<string> {
  const task = runNow(schedule);
  world.clock.leap(15_000);
  await ended(task);
  return task;
}

const ended = (task_id: string) =>
  until(world, async () => {
    const { task } = await call('showTask', { task_id });
    return task.status !== 'initializing' && task.status !== 'running';
  });

const pause = (id: string) => call('disableAutoUpdateSchedule', { auto_update_schedule_id: id });
const enable = (id: string) => call('enableAutoUpdateSchedule', { auto_update_schedule_id: id });

const policyWith = (options: object = {}, changes: Partial<Policy> = {}): Policy =>
  aPolicy({
    name: 'update-check',
    job: 'update-check',
    options: updateCheck.options.parse(options),
    ...changes,
  });

/** Runs a check and gives its targets by id. One of another name has reported nothing yet. */
async function check(options: object = {}, name = 'update-check'): Promise<Record<string, Target>> {
  return targetsOf(await world.ended(await world.fire(policyWith(options, { name }))));
}

const targetsOf = async (run: Run): Promise<Record<string, Target>> =>
  Object.fromEntries((await world.targets(run)).map((target) => [target.id, target]));

/** The findings of a target as lines: `error run of ...: It failed`. */
const linesOf = (target: Target | undefined): string[] =>
  (target?.findings ?? []).map(({ severity, about, message }) => `${severity} ${about}: ${message}`);

const addressOf = async (site_id: string) => (await call('showSite', { site_id })).site.url;

const effects = () => ({
  enabled: world.sandbox.journal.effectsOf('enableAutoUpdateSchedule'),
  paused: world.sandbox.journal.effectsOf('disableAutoUpdateSchedule'),
});

describe('a run of a schedule', () => {
  test('is reported once, with each site and its versions, or step and error', async () => {
    await startAccount();
    world.sandbox.site('site-0001').failNextSync('Disk full.');
    world.sandbox.site('site-0002').underMaintenance(true);
    const bad = await addSchedule(['site-0001', 'site-0002', 'site-0003']);
    const good = await addSchedule(['site-0004'], { name: 'Others' });
    await runToTheEnd(bad);
    await runToTheEnd(good);

    const first = await check();
    const second = await check();
    const { [bad]: mild } = await check({ fail_on: ['overdue'] }, 'mild');

    expect(first[good]).toMatchObject({ outcome: 'succeeded', reason: 'done' });
    expect(first[good]?.detail).toMatch(/^1 site update in 1 run since .*, none failed\.$/);
    const [, goodRun, updated] = linesOf(first[good]);
    expect(goodRun).toMatch(/^info run of 20.*Z: It completed: 1 updated of 1 site\.$/);
    expect(updated).toMatch(
      new RegExp(`^info ${await addressOf('site-0004')}: Updated: Contact Form 5\\.\\S+ → 5\\.\\S+[.,]`),
    );
    expect(second[good]?.detail).toMatch(/^No run since /);
    expect(linesOf(second[good])).toHaveLength(1);

    expect(first[bad]).toMatchObject({ outcome: 'failed', reason: 'update-failed' });
    expect(first[bad]?.detail).toMatch(/: 1 updated, 1 failed, 1 aborted of 3 sites\.$/);
    const lines = linesOf(first[bad]);
    const [failed, aborted] = [await addressOf('site-0001'), await addressOf('site-0002')];
    expect(lines.find((line) => line.startsWith(`error ${failed}`))).toMatch(
      /Failed at check: The step check failed\. Planned: Contact Form \S+ → \S+/,
    );
    expect(lines.find((line) => line.startsWith(`error ${aborted}`))).toContain('Aborted at check:');
    expect(lines.filter((line) => line.startsWith('info http'))).toHaveLength(1);
    // A failed update is an event, which is reported once. It is not a state of the schedule.
    expect(second[bad]).toMatchObject({ outcome: 'succeeded', reason: 'done' });
    // Its fail_on does not name failed updates.
    expect(mild).toMatchObject({ outcome: 'skipped', reason: 'update-failed' });
    expect(linesOf(mild)[1]).toMatch(/^warning run of .*: It failed/);
  });

  test('that failed stays an open finding of each site until a later run of the schedule updates that site', async () => {
    await startAccount();
    const isDown = (site: string, down: boolean) => world.sandbox.site(site).underMaintenance(down);
    isDown('site-0001', true);
    isDown('site-0002', true);
    const id = await addSchedule(['site-0001', 'site-0002', 'site-0003']);
    const changes = async (name = 'update-check') => {
      const { findings } = await world.ended(await world.fire(policyWith({}, { name })));
      return { new: findings?.new ?? 0, resolved: findings?.resolved ?? 0 };
    };
    await runToTheEnd(id);
    expect(await changes(), 'the run and two sites').toEqual({ new: 3, resolved: 0 });

    expect(await changes(), 'nothing was done').toEqual({ new: 0, resolved: 0 });
    isDown('site-0001', false);
    // A run is named by its minute.
    world.clock.leap(60_000);
    await runToTheEnd(id);
    expect(await changes(), 'another failed run instead of the first, one site is updated').toEqual({
      new: 1,
      resolved: 2,
    });
    isDown('site-0002', false);
    await runToTheEnd(id);
    await runToTheEnd(id);
    expect(await changes(), 'all is updated').toEqual({ new: 0, resolved: 2 });
    // A later run made good what another policy only learns of now.
    expect(await changes('late'), 'two failed runs and two sites').toEqual({ new: 4, resolved: 0 });
    expect(await changes('late'), 'nothing failed since').toEqual({ new: 0, resolved: 4 });
  });

  test('that is in progress is followed to its end and reported once, with all runs before it', async () => {
    await startAccount();
    const id = await addSchedule(['site-0001', 'site-0002']);
    const before = await runToTheEnd(id);
    world.sandbox.site('site-0003').failNextSync('Disk full.');
    const other = await addSchedule(['site-0003', 'site-0004'], { name: 'Others' });
    const going = runNow(other, HOUR / 2);

    const run = await world.fire(policyWith({ pause_on_failed_rate: '40%' }));
    await until(world, async () => (await targetsOf(run))[other]?.state === 'following');
    world.clock.leap(HOUR / 2);
    const first = await targetsOf(await world.ended(run));
    const second = await check();

    expect(first[id]?.findings?.map(({ task }) => task)).toContain(before);
    expect(first[other]).toMatchObject({ outcome: 'failed', reason: 'update-failed', taskId: going });
    expect(linesOf(first[other])).toContainEqual(
      expect.stringMatching(`error ${await addressOf('site-0003')}: Failed at check`),
    );
    // Then the schedule is paused, as after one that had ended before.
    expect(linesOf(first[other])[0]).toContain('Paused by this check, because its last run failed on 50%');
    expect(effects().paused).toEqual([other]);
    expect(second[other]).toMatchObject({ outcome: 'skipped', reason: 'schedule-paused' });
    expect(linesOf(second[other])).toHaveLength(1);
  });

  test('that takes longer than follow_for, which is for all runs together, is reported by the next check', async () => {
    await startAccount();
    const [one, other] = [
      await addSchedule(['site-0001']),
      await addSchedule(['site-0002'], { name: 'Others' }),
    ];
    const [task, otherTask] = [runNow(one, 24 * HOUR), runNow(other, 24 * HOUR)];

    const fired = await world.fire(policyWith({ follow_for: '10m' }));
    await until(world, async () => (await targetsOf(fired))[one]?.state === 'following');
    world.clock.leap(570_000);
    const run = await world.ended(fired);
    const first = await targetsOf(run);
    for (const task_id of [task, otherTask]) await call('cancelTask', { task_id });
    const second = await check();
    const third = await check();

    for (const id of [one, other]) {
      const { outcome, reason, finishedAt = 0 } = first[id] ?? {};
      expect([outcome, reason]).toEqual(['skipped', 'timeout']);
      expect(finishedAt - (run.startedAt ?? 0)).toBeGreaterThanOrEqual(600_000);
      expect(finishedAt - (run.startedAt ?? 0)).toBeLessThan(HOUR / 2);
    }
    expect(linesOf(first[one])[1]).toContain(`It is still running (task ${task}); the next check reports`);
    expect(second[one]).toMatchObject({ outcome: 'succeeded', reason: 'done' });
    expect(linesOf(second[one])[1]).toMatch(/^warning run of .*: It was cancelled: 1 cancelled of 1 site\.$/);
    expect(linesOf(third[one])).toHaveLength(1);
  });

  test('belongs to the service, so cancelling the check does not cancel it', async () => {
    await startAccount();
    const id = await addSchedule(['site-0001']);
    const task = runNow(id, HOUR / 2);
    const run = await world.fire(policyWith());
    await until(world, async () => (await targetsOf(run))[id]?.state === 'following');

    await world.caretaker.engine.cancel(run.id);
    world.clock.leap(HOUR / 2);
    await world.ended(run);
    await ended(task);

    expect(world.sandbox.journal.effectsOf('cancelTask')).toEqual([]);
    expect((await call('showTask', { task_id: task })).task.status).not.toBe('cancelled');
  });

  test('that a cancelled check did not report is reported by the next check', async () => {
    await startAccount();
    const id = await addSchedule(['site-0001', 'site-0002']);
    const reported = await runToTheEnd(id);
    await check();
    const task = runNow(id, 24 * HOUR);

    const run = await world.fire(policyWith());
    await until(world, async () => (await targetsOf(run))[id]?.state === 'following');
    const cancelled = await world.caretaker.engine.forceEnd(run.id);
    await call('cancelTask', { task_id: task });
    const next = await check();

    expect(cancelled.status).toBe('cancelled');
    const tasks = next[id]?.findings?.map((finding) => finding.task);
    expect(tasks).toContain(task);
    expect(tasks).not.toContain(reported);
  });

  test('that failed is reported again by a retry of the check', async () => {
    await startAccount();
    world.sandbox.site('site-0001').failNextSync('Disk full.');
    const id = await addSchedule(['site-0001']);
    const fine = await addSchedule(['site-0002'], { name: 'Fine' });
    const task = await runToTheEnd(id);
    await runToTheEnd(fine);
    const checked = await world.ended(await world.fire(policyWith()));

    const retry = await world.ended(
      await world.caretaker.engine.retry(checked.id, { which: { reasons: ['all'] } }),
    );
    const again = await world.ended(
      await world.caretaker.engine.retry(retry.id, { which: { reasons: ['all'] } }),
    );

    for (const run of [retry, again]) {
      const { [id]: target, ...others } = await targetsOf(run);
      expect(target).toMatchObject({ outcome: 'failed', reason: 'update-failed' });
      expect(target?.findings?.[1]?.task).toBe(task);
      expect(others).toEqual({});
    }
    expect((await check())[id]?.outcome).toBe('succeeded');
  });
});

describe('a run for which the service does not show everything', () => {
  test('is reported from the details of its task, and has no result when neither list nor task shows it', async () => {
    await startAccount();
    world.sandbox.site('site-0003').failNextSync('Disk full.');
    const failed = await addSchedule(['site-0003'], { name: 'Others' });
    const id = await addSchedule(['site-0001', 'site-0002']);
    await runToTheEnd(failed);
    await runToTheEnd(id);
    const showProgress = world.sandbox.hide('listTasks', 'progress');

    expect((await check())[id]).toMatchObject({ outcome: 'succeeded', reason: 'done' });
    expect(world.sandbox.journal.countOf('showTask')).toBeGreaterThan(0);

    for (const field of ['task.details', 'task.details.sites.status']) {
      const show = world.sandbox.hide('showTask', field);
      const target = (await check({}, field.replaceAll('.', '-')))[id];
      show();
      expect(target, field).toMatchObject({ outcome: 'skipped', reason: 'not-eligible' });
      expect(target?.detail).toMatch(/^0 site updates in 1 run .*, but not all sites of 1 run are shown\.$/);
      expect(linesOf(target)[1]).toContain('the service does not show the results of its 2 sites');
    }
    showProgress();

    around(client(), 'call', (send, operation) =>
      operation === 'showTask' ? Promise.reject(new GoneError('showTask')) : send(),
    );
    const target = (await check({}, 'without-task'))[failed];
    expect(target).toMatchObject({ outcome: 'failed', reason: 'update-failed' });
    expect(linesOf(target)[1]).toContain('the service does not show the results of its 1 site.');
  });

  test('is reported for its schedule even if the history shows neither the schedule nor the time', async () => {
    await startAccount();
    const [one, other] = [
      await addSchedule(['site-0001']),
      await addSchedule(['site-0002'], { name: 'Others' }),
    ];
    const [task] = [await runToTheEnd(one), await pause(other)];
    const show = world.sandbox.hide('listAutoUpdateHistory', 'auto_update_schedule');

    const targets = await check();
    show();
    world.sandbox.hide('listAutoUpdateHistory', 'performed_on');
    world.sandbox.hide('listTasks', 'updated_at');
    const { [one]: timeless } = await check({}, 'timeless');

    expect(targets[one]?.findings?.map((finding) => finding.task)).toContain(task);
    expect(targets[other]?.reason).toBe('schedule-paused');
    expect(linesOf(targets[other])).toHaveLength(1);
    expect(timeless?.findings?.map((finding) => finding.task)).toContain(task);
    expect(linesOf(timeless)[1]).toMatch(/^info run of \?/);
  });
});

describe('a schedule', () => {
  test('that was due and has not run is overdue, in every check', async () => {
    await startAccount();
    const [late, ran, due] = [
      await addSchedule(['site-0001']),
      await addSchedule(['site-0002'], { name: 'Ran' }),
      await addSchedule(['site-0003'], { name: 'Due' }),
    ];
    await runToTheEnd(late);
    world.sandbox.schedule(late).overdueBy(0);
    world.sandbox.schedule(ran).overdueBy(0);
    await runToTheEnd(ran);
    world.clock.leap(HOUR / 60);
    world.sandbox.schedule(due).overdueBy(HOUR / 120);
    const options = { overdue_after: '1m' };

    const first = await check(options);
    const second = await check(options);
    const mild = await check();

    for (const { [late]: target } of [first, second]) {
      expect(target).toMatchObject({ outcome: 'failed', reason: 'overdue' });
      expect(target?.detail).toMatch(/It was due .* and has not run\.$/);
    }
    expect(first[ran]?.reason).toBe('done');
    expect(first[due]?.reason).toBe('no-history');
    expect(mild[late]?.reason).toBe('done');
  });

  test('that is paused or has never run fails only when fail_on names that, and never before its start', async () => {
    await startAccount();
    const never = await addSchedule(['site-0001']);
    const future = await addSchedule(['site-0001'], { started_at: iso(world.clock.now() + 240 * HOUR) });
    const paused = await addSchedule(['site-0001']);
    await pause(paused);

    const reported = await check();
    const failing = await check({ fail_on: ['no-history', 'paused'] });

    expect(reported[paused]).toMatchObject({ outcome: 'skipped', reason: 'schedule-paused' });
    expect(failing[paused]).toMatchObject({ outcome: 'failed' });
    expect(effects().enabled).toEqual([]);
    expect(reported[never]).toMatchObject({ outcome: 'skipped', reason: 'no-history' });
    expect(reported[never]?.detail).toMatch(/^It has never run; the first run is due /);
    expect(failing[never]).toMatchObject({ outcome: 'failed', reason: 'no-history' });
    expect(failing[future]).toMatchObject({ outcome: 'skipped', reason: 'no-history' });
    expect(failing[future]?.detail).toMatch(/^It has not started; /);
  });
});

describe('a site', () => {
  test('whose core is outdated is uncovered unless an active schedule updates the core of that site', async () => {
    await startAccount();
    for (const id of world.sandbox.siteIds()) world.sandbox.site(id).coreIs({ current: '6.8.2' });
    world.sandbox.site('site-0006').coreIs({ locked: true });
    await addSchedule(['site-0001'], { name: 'Cores', ...coreOf(['site-0001']) });
    await addSchedule(['site-0002']);
    const paused = await addSchedule(['site-0003'], { name: 'Idle', ...coreOf(['site-0003']) });
    await pause(paused);

    const targets = await check();

    const reported = Object.fromEntries(
      Object.values(targets).flatMap(({ id, reason, detail }) =>
        id.startsWith('site:') ? [[id, `${reason}: ${detail}`]] : [],
      ),
    );
    const outdated =
      'uncovered: The core 6.8.2 is outdated (latest version: 6.8.3); no active schedule updates it';
    expect(reported).toEqual({
      'site:site-0002': `${outdated} ("Plugins" does not update the core).`,
      'site:site-0003': `${outdated} ("Idle" is paused).`,
      'site:site-0004': `${outdated}.`,
      'site:site-0005': `${outdated}.`,
    });
    expect(targets['site:site-0004']).toMatchObject({ outcome: 'failed', reason: 'uncovered' });
  });

  test('whose core is vulnerable is reported, covered or not, and one site is read for each version', async () => {
    await startAccount();
    for (const id of ['site-0001', 'site-0002', 'site-0003'])
      world.sandbox.site(id).coreIs({ current: '6.4.2', vulnerable: true });
    world.sandbox.site('site-0004').coreIs({ current: '6.8.2' });
    await addSchedule([], {
      name: 'Cores',
      scope: { sites: { selection: 'all' }, updates: { wordpress_core: true } },
    });
    const shown = world.sandbox.journal.countOf('showSite');

    const targets = await check();
    const mild = await check({ fail_on: [] });

    expect(world.sandbox.journal.countOf('showSite') - shown).toBe(4);
    for (const id of ['site:site-0001', 'site:site-0002', 'site:site-0003']) {
      expect(targets[id]).toMatchObject({ outcome: 'failed', reason: 'vulnerable' });
      expect(targets[id]?.detail).toMatch(/^The core 6\.4\.2 is vulnerable .*; "Cores" updates it, next on /);
      expect(mild[id]).toMatchObject({ outcome: 'skipped', reason: 'vulnerable' });
    }
    expect(targets).not.toHaveProperty('site:site-0004');
  });
});

describe('enable_paused', () => {
  const options = { enable_paused: true };

  test('enables a paused schedule once, and the next check changes nothing', async () => {
    await startAccount();
    const id = await addSchedule(['site-0001']);
    const never = await addSchedule(['site-0002'], { name: 'Never' });
    await runToTheEnd(id);
    await pause(id);
    await pause(never);

    const first = await check({ ...options, fail_on: ['no-history'] });
    const second = await check(options);

    expect(first[id]).toMatchObject({ outcome: 'succeeded', reason: 'done' });
    expect(linesOf(first[id])[0]).toMatch(
      /^warning schedule: Was paused; enabled by this check\. The next run/,
    );
    expect(linesOf(first[id])[1]).toContain('It completed');
    expect(second[id]).toMatchObject({ outcome: 'succeeded', reason: 'done' });
    expect(world.sandbox.schedule(id).state().status).toBe('active');
    // Why it fails the check all the same is an error.
    expect(first[never]).toMatchObject({ outcome: 'failed', reason: 'no-history' });
    expect(linesOf(first[never])[0]).toMatch(
      /^error schedule: Was paused; enabled by this check\. It has never run\. The next run is due/,
    );
    expect(effects().enabled.toSorted()).toEqual([id, never].toSorted());
  });

  test('is requested once when the answer is lost, and again when the request provably did not arrive', async () => {
    await startAccount();
    const faults = ['reset-after', 'truncate', 'error-after', 'error-before'] as const;
    const ids: string[] = [];
    for (const [at, fault] of faults.entries()) {
      const id = await addSchedule([`site-000${at + 1}`], { name: `Plugins ${at}` });
      await pause(id);
      ids.push(id);
      world.sandbox.failNext({ operation: 'enableAutoUpdateSchedule' }, fault);
    }

    const targets = await check(options);

    for (const id of ids) expect(linesOf(targets[id])[0]).toContain('enabled by this check');
    expect(effects().enabled.toSorted()).toEqual(ids.toSorted());
    expect(world.sandbox.journal.countOf('enableAutoUpdateSchedule')).toBe(5);
  });

  test('reports what else became of the schedule: somebody enabled or deleted it, or the service refuses', async () => {
    await startAccount();
    const [enabled, refused, gone] = [
      await addSchedule(['site-0001']),
      await addSchedule(['site-0002'], { name: 'Refused' }),
      await addSchedule(['site-0003'], { name: 'Gone' }),
    ];
    await runToTheEnd(refused);
    for (const id of [enabled, refused, gone]) await pause(id);
    const happened = new Set<string>();
    around(client(), 'call', async (send, operation, input) => {
      const id = 'auto_update_schedule_id' in input ? String(input.auto_update_schedule_id) : '';
      const isFirst = !happened.has(id);
      if (operation === 'enableAutoUpdateSchedule') {
        if (id === refused) throw new RejectedError(operation, 422, { message: 'The plan has ended.' });
        happened.add(id);
        if (id === enabled && isFirst) await enable(id);
      } else if (operation === 'showAutoUpdateSchedule' && id === gone && isFirst) {
        happened.add(id);
        await call('deleteAutoUpdateSchedule', { auto_update_schedule_id: id });
      }
      return send();
    });

    const targets = await check(options);

    expect(linesOf(targets[enabled])[0]).toMatch(
      /^warning schedule: .*enabled by this check|^warning schedule: Active/,
    );
    expect(effects().enabled).toEqual([enabled]);
    expect(targets[gone]).toMatchObject({ outcome: 'skipped', reason: 'gone' });
    // Everything else is reported.
    expect(targets[refused]).toMatchObject({
      outcome: 'failed',
      reason: 'rejected',
      detail: 'The plan has ended.',
    });
    const lines = linesOf(targets[refused]);
    expect(lines).toContainEqual('error schedule: It could not be enabled: The plan has ended.');
    expect(lines).toContainEqual(expect.stringContaining('It completed: 1 updated'));
  });
});

describe('pause_on_failed_rate', () => {
  const options = { pause_on_failed_rate: '40%', enable_paused: true };

  test('pauses a schedule once if its last run failed on more than that percentage, and only a person enables it again', async () => {
    await startAccount();
    world.sandbox.site('site-0001').failNextSync('Disk full.');
    const id = await addSchedule(['site-0001', 'site-0002']);
    await runToTheEnd(id);
    world.sandbox.failNext({ operation: 'disableAutoUpdateSchedule' }, 'reset-after');

    const first = await check(options);
    const second = await check(options);
    const third = await check(options);

    expect(first[id]).toMatchObject({ outcome: 'failed', reason: 'update-failed' });
    expect(linesOf(first[id])[0]).toBe(
      'warning schedule: Paused by this check, because its last run failed on 50% of its sites, which is more than 40%. Enable it when the cause is fixed.',
    );
    expect(second[id]).toMatchObject({ outcome: 'skipped', reason: 'schedule-paused' });
    expect(linesOf(third[id])[0]).toContain('It is not enabled, because its last run failed on 50%');
    expect(effects()).toEqual({ enabled: [], paused: [id] });
    expect(world.sandbox.schedule(id).state().status).toBe('paused');

    // From then on, only a new run that fails pauses it.
    await enable(id);
    const unchanged = await check(options);
    await runToTheEnd(id);
    const again = await check(options);

    expect(unchanged[id]).toMatchObject({ outcome: 'succeeded', reason: 'done' });
    expect(linesOf(again[id])[0]).toContain('Paused by this check');
    expect(effects().paused).toEqual([id, id]);
  });
});

test('whether a schedule was paused is unknown when it has an unknown status', async () => {
  const reconcile = (status: string) => {
    const showAutoUpdateSchedule = async () => ({ auto_update_schedule: { id: 'x', status } });
    const acting = {
      api: { showAutoUpdateSchedule },
      target: { id: 'x', label: 'x' },
      state: { going: [] },
    } as unknown as Acting<never, never>;
    return updateCheck.reconcile(acting, { operation: 'disableAutoUpdateSchedule', at: 0 });
  };
  expect(await reconcile('paused')).toMatchObject({
    is: 'next',
    state: { did: 'disableAutoUpdateSchedule' },
  });
  expect(await reconcile('active')).toEqual({ is: 'absent' });
  expect(await reconcile('archived')).toMatchObject({ is: 'unknown' });
});

test('a check of 250 sites costs one request per page', async () => {
  await startAccount({ sites: 250 });
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).coreIs({ current: '6.8.2' });
  for (const id of world.sandbox.siteIds().slice(0, 120)) world.sandbox.schedules.make(id, 'active');

  const run = await world.ended(await world.fire(policyWith()));

  // Schedules twice, tasks, history, runs in progress, last runs, sites, and one site for the one version.
  expect(run.counts.planned).toBe(120 + 250);
  expect(run.requests).toBeLessThanOrEqual(2 + 2 + 1 + 1 + 1 + 3 + 3 + 1 + 6);
});
