/** `steps` of a policy: several jobs on each target, in order, each exactly once. */
import { afterEach, describe, expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { siteSync } from '../../../jobs/site-sync/job.ts';
import { createEngine } from '../../../src/engine/engine.ts';
import { type AnyJob, defineJob } from '../../../src/job/job.ts';
import { createRegistry } from '../../../src/job/registry.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import type { Run } from '../../../src/run/run.ts';
import { partsOf } from '../../support/between.ts';
import { type AStep, aPolicyOf } from '../../support/builders.ts';
import { startWorld, until, type World, type WorldOptions } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';

let world: World;
let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
  stop = undefined;
});

async function start(options: WorldOptions, more: AnyJob[] = []): Promise<void> {
  world = await startWorld({ before: quickSyncs, ...options, work: false });
  const registry = createRegistry([apiCall, siteSync, ...more]);
  const engine = createEngine({ ...partsOf(world.caretaker), registry });
  const working = engine.work(50);
  Object.assign(world.caretaker, { engine });
  stop = async () => {
    await working.stop();
    await world.stop();
  };
}

const note = (content: string, more: object = {}): AStep => ({
  name: 'note',
  job: 'api-call',
  options: apiCall.options.parse({ operation: 'createSiteNote', body: { note: { content } }, ...more }),
});
const sync: AStep = {
  name: 'site-sync',
  job: 'site-sync',
  options: siteSync.options.parse({ mode: 'all' }),
};
const noteAndSync = (changes: Partial<Policy> = {}) =>
  aPolicyOf([note('Begins.'), sync, note('Ends.')], changes);
/** The targets of a run by their ids. */
const byId = async (run: Run) => new Map((await world.targets(run)).map((target) => [target.id, target]));

/** The changes of a site that the service made, in order. */
const effectsOn = (site: string) =>
  world.sandbox.journal.requests.flatMap(({ operation, method, path, status }) =>
    method === 'POST' && path.includes(`/sites/${site}/`) && status > 0 && status < 300 ? [operation] : [],
  );

describe('the steps of a policy', () => {
  test('happen in order on each target, each once, up to the first that fails, and are retried from that one', async () => {
    await start({ sites: 4 });
    const { cost, job, targets: planned } = await world.caretaker.engine.preview(noteAndSync());
    expect(planned).toHaveLength(4);
    expect([job, cost.acting]).toEqual(['api-call, site-sync, api-call', 12]);
    world.sandbox.site('site-0002').failNextSync('disk full');
    world.sandbox.site('site-0003').useUpDailySyncs();
    world.sandbox.site('site-0004').disconnect();

    const run = await world.ended(await world.fire(noteAndSync()));

    expect(run).toMatchObject({
      status: 'partial',
      counts: { planned: 4, succeeded: 1, failed: 1, skipped: 2 },
    });
    const targets = await byId(run);
    expect(targets.get('site-0001')).toMatchObject({
      outcome: 'succeeded',
      reason: 'done',
      steps: [
        { reason: 'done' },
        { reason: 'done', taskId: expect.stringContaining('snapshot') },
        { reason: 'done' },
      ],
    });
    expect(effectsOn('site-0001')).toEqual(['createSiteNote', 'syncSite', 'createSiteNote']);
    expect(world.sandbox.site('site-0001').notes()).toEqual(['Begins.', 'Ends.']);
    expect(targets.get('site-0002')).toMatchObject({
      outcome: 'failed',
      reason: 'task-failed',
      detail: expect.stringMatching(/^Step 2 \(site-sync\): .*disk full/),
      steps: [{ reason: 'done' }],
    });
    expect(effectsOn('site-0002')).toEqual(['createSiteNote', 'syncSite']);
    expect(targets.get('site-0003')).toMatchObject({
      outcome: 'skipped',
      reason: 'daily-limit',
      detail: expect.stringMatching(/^Step 2 \(site-sync\): /),
    });
    expect(effectsOn('site-0003')).toEqual(['createSiteNote']);
    // No step begins when the plan shows that a later one cannot work on the target.
    expect(targets.get('site-0004')).toMatchObject({
      outcome: 'skipped',
      reason: 'not-eligible',
      detail: 'Step 2 (site-sync): The site is disconnected.',
    });
    expect(effectsOn('site-0004')).toEqual([]);

    const retry = await world.ended(await world.caretaker.engine.retry(run.id));

    expect(await world.targets(retry)).toMatchObject([
      {
        id: 'site-0002',
        outcome: 'succeeded',
        steps: [{ reason: 'done' }, { reason: 'done' }, { reason: 'done' }],
      },
    ]);
    expect(effectsOn('site-0002')).toEqual(['createSiteNote', 'syncSite', 'syncSite', 'createSiteNote']);
  });

  test('happen once also when the answer to each of them is lost', async () => {
    await start({ sites: 2, speedUp: 20 });
    world.sandbox.failNext({ operation: 'createSiteNote', times: 2 }, 'reset-after');
    world.sandbox.failNext({ operation: 'syncSite', times: 2 }, 'reset-after');

    const run = await world.ended(await world.fire(noteAndSync()));

    expect(run).toMatchObject({ status: 'succeeded' });
    for (const { id } of await world.targets(run))
      expect(effectsOn(id)).toEqual(['createSiteNote', 'syncSite', 'createSiteNote']);
  });

  test('that are equal are two effects: the one of the first is never taken for that of the second', async () => {
    await start({ sites: 1 });
    world.sandbox.failNext({ operation: 'createSiteNote', after: 1 }, 'reset-before');

    const run = await world.ended(await world.fire(aPolicyOf([note('Checked.'), note('Checked.')])));

    const [target] = await world.targets(run);
    const notes = world.sandbox.site('site-0001').notes();
    if (target?.outcome === 'succeeded') expect(notes).toEqual(['Checked.', 'Checked.']);
    else expect(target).toMatchObject({ reason: 'unknown-effect' });
  });

  test('that need no action by the plan are recorded as such, and the others are done, without a request if there are none', async () => {
    await start({ sites: 2 });
    world.sandbox.site('site-0001').lastSynced(60_000);
    world.sandbox.site('site-0002').lastSynced(86_400_000 * 9);
    const stale = { ...sync, options: siteSync.options.parse({ mode: 'stale', max_age: '1d' }) };

    const run = await world.ended(await world.fire(aPolicyOf([stale, note('Checked.'), stale])));

    const targets = await byId(run);
    expect(targets.get('site-0001')).toMatchObject({
      outcome: 'succeeded',
      reason: 'done',
      steps: [{ reason: 'already-done' }, { reason: 'done' }, { reason: 'already-done' }],
    });
    expect(effectsOn('site-0001')).toEqual(['createSiteNote']);
    expect(targets.get('site-0002')).toMatchObject({ outcome: 'succeeded', reason: 'done' });
    expect(effectsOn('site-0002')).toEqual(['syncSite', 'createSiteNote', 'syncSite']);

    const effects = world.sandbox.journal.effects.length;
    const [none] = await world.targets(await world.ended(await world.fire(aPolicyOf([stale, stale]))));
    expect(none).toMatchObject({
      outcome: 'succeeded',
      reason: 'already-done',
      steps: [{ reason: 'already-done' }, { reason: 'already-done' }],
    });
    expect(world.sandbox.journal.effects).toHaveLength(effects);
  });

  test('end between two of them when the run is cancelled, with what was done', async () => {
    await start({ sites: 1 });
    world.sandbox.site('site-0001').syncTakes(86_400_000);
    const run = await world.fire(noteAndSync());
    await until(world, () => effectsOn('site-0001').includes('syncSite'));

    await world.caretaker.engine.cancel(run.id);
    world.sandbox.site('site-0001').finishSync();
    await world.ended(run);

    expect(await world.targets(run)).toMatchObject([
      {
        outcome: 'cancelled',
        reason: 'run-cancelled',
        detail: 'Some of its steps had already been done.',
        steps: [{ reason: 'done' }, { reason: 'done' }],
      },
    ]);
    expect(effectsOn('site-0001')).toEqual(['createSiteNote', 'syncSite']);
  });

  test('share no key of "once": a later step finds that the earlier one made the call', async () => {
    await start({ sites: 1 });
    const once = aPolicyOf([note('Begins.', { once: 'begin' }), note('Begins.', { once: 'begin' }), sync]);

    const first = await world.ended(await world.fire(once));
    const second = await world.ended(await world.fire(once));

    expect((await world.targets(first))[0]?.steps).toMatchObject([
      { reason: 'done' },
      { reason: 'already-done', detail: `The run ${first.id} made this call (once: begin).` },
      { reason: 'done' },
    ]);
    expect((await world.targets(second))[0]?.steps).toMatchObject([
      { reason: 'already-done' },
      { reason: 'already-done' },
      { reason: 'done' },
    ]);
    expect(effectsOn('site-0001')).toEqual(['createSiteNote', 'syncSite', 'syncSite']);
  });

  test('of which a later one failed: another run knows that the call of the first was made', async () => {
    await start({ sites: 1, speedUp: 600 });
    const download = {
      name: 'download',
      job: 'api-call',
      options: apiCall.options.parse({
        operation: 'startSiteBackupDownload',
        params: { snapshot_id: { cel: 'site.backups.latest_snapshot.id' } },
        body: { download: { scope: { include_files: true, include_database: false } } },
        once: 'download',
      }),
    };
    world.sandbox.site('site-0001').failNextSync('disk full');
    const first = await world.ended(await world.fire(aPolicyOf([download, sync])));
    const second = await world.ended(await world.fire(aPolicyOf([download, sync])));

    expect((await world.targets(first))[0]).toMatchObject({
      reason: 'task-failed',
      steps: [{ reason: 'done' }],
    });
    expect((await world.targets(second))[0]?.steps?.[0]).toMatchObject({ reason: 'already-done' });
    expect(effectsOn('site-0001').filter((one) => one === 'startSiteBackupDownload')).toHaveLength(1);
  });

  test('hold their site from the first to the last: another run waits', async () => {
    await start({ sites: 1 });
    world.sandbox.site('site-0001').syncTakes(86_400_000);
    const run = await world.fire(noteAndSync());
    await until(world, () => effectsOn('site-0001').includes('syncSite'));

    // However long it waits: the sync that is in progress when it is planned has ended before its turn.
    const patient = { name: 'other', recheck: { maxAgeMs: 3_600_000 } };
    const other = await world.fire(aPolicyOf([note('Other.'), sync], patient));
    await until(world, async () => (await world.targets(other))[0]?.state === 'waiting');
    world.clock.leap(60_000);
    world.sandbox.site('site-0001').syncTakes(1_000);
    world.sandbox.site('site-0001').finishSync();
    await Promise.all([world.ended(run), world.ended(other)]);

    expect(world.sandbox.site('site-0001').notes()).toEqual(['Begins.', 'Ends.', 'Other.']);
  });

  test('collect their findings on the target', async () => {
    const look = (name: string): AnyJob =>
      defineJob({
        name,
        summary: 'Looks at a site.',
        options: siteSync.options,
        candidates: 'listSites',
        target: ({ id, url }) => ({ id, label: url }),
        requestsPerTarget: 0,
        act: async () => ({
          is: 'done',
          reason: 'done',
          findings: [{ severity: 'warning', about: name, message: `Seen by ${name}.` }],
        }),
        reconcile: async () => ({ is: 'absent' }),
      });
    await start({ sites: 1 }, [look('look-one'), look('look-two')]);
    const step = (name: string) => ({ name, job: name, options: {} });

    const run = await world.ended(await world.fire(aPolicyOf([step('look-one'), step('look-two')])));

    const [target] = await world.targets(run);
    expect(target?.findings?.map(({ message }) => message)).toEqual([
      'Seen by look-one.',
      'Seen by look-two.',
    ]);
    expect(target?.steps?.every((one) => one.findings === undefined)).toBe(true);
    expect(run.findings).toMatchObject({ open: 2, new: 2 });
  });
});
