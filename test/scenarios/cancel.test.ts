import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createEngine, type Engine } from '../../src/engine/engine.ts';
import { type AnyJob, defineJob } from '../../src/job/job.ts';
import { createRegistry } from '../../src/job/registry.ts';
import { aGate, around, partsOf } from '../support/between.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';

let world: World;
let stop: () => Promise<void> = async () => undefined;
afterEach(async () => {
  await stop();
  await world.stop();
});

/** Starts a download of each site's newest snapshot in the service. */
const download = defineJob({
  name: 'download',
  summary: 'Downloads backups.',
  options: z.strictObject({}),
  candidates: 'listSites',
  target: ({ id, url }) => ({ id, label: url }),
  evaluate: ({ backups }) =>
    backups?.latest_snapshot?.status === 'succeeded'
      ? { is: 'target' }
      : { is: 'excluded', why: 'There is no snapshot' },
  requestsPerTarget: 2,
  async act({ api, target, now }) {
    const { site } = await api.showSite({ site_id: target.id });
    const { task } = await api.startSiteBackupDownload({
      site_id: target.id,
      snapshot_id: site.backups?.latest_snapshot?.id ?? '',
      body: { download: { scope: { include_files: true, include_database: true } } },
    });
    return { is: 'following', watch: { kind: 'task', taskId: task.id, since: now } };
  },
  reconcile: async () => ({ is: 'absent' }),
});

async function start(sites: number): Promise<Engine> {
  world = await startWorld({ sites, work: false });
  const jobs: AnyJob[] = [download];
  const engine = createEngine({ ...partsOf(world.caretaker), registry: createRegistry(jobs) });
  const working = engine.work(50);
  stop = () => working.stop();
  return engine;
}

const policy = aPolicy({ job: 'download' });
/** Sites without a download in progress in the service. */
const idle = ['site-0001', 'site-0003'];

test('cancelling a run cancels its tasks in the service, each once, and each target has its outcome', async () => {
  const engine = await start(3);
  const run = await world.fire(policy, idle);
  await until(world, () => world.sandbox.journal.effectsOf('startSiteBackupDownload').length === 2);

  await engine.cancel(run.id);
  const end = await world.ended(run);

  expect(end).toMatchObject({ status: 'cancelled', counts: { cancelled: 2 } });
  for (const target of await world.targets(run)) {
    expect(target).toMatchObject({
      outcome: 'cancelled',
      reason: 'run-cancelled',
      detail: 'Its task in the service was cancelled.',
    });
  }
  expect(new Set(world.sandbox.journal.effectsOf('cancelTask')).size).toBe(2);
  expect(world.sandbox.journal.effectsOf('cancelTask')).toHaveLength(2);
});

test('its tasks continue to their end on request, and are recorded as they ended', async () => {
  const engine = await start(3);
  const run = await world.fire(policy, idle);
  await until(world, () => world.sandbox.journal.effectsOf('startSiteBackupDownload').length === 2);

  await engine.cancel(run.id, { tasks: false });
  await until(world, async () => (await world.targets(run)).every(({ state }) => state === 'following'));
  world.clock.leap(3_600_000);

  expect(await world.ended(run)).toMatchObject({ status: 'cancelled', counts: { succeeded: 2 } });
  expect(world.sandbox.journal.countOf('cancelTask')).toBe(0);
});

test('a task that cannot be cancelled while the service fails is cancelled when the service responds again', async () => {
  const engine = await start(3);
  const run = await world.fire(policy, idle.slice(0, 1));
  await until(world, () => world.sandbox.journal.effectsOf('startSiteBackupDownload').length === 1);
  world.sandbox.failNext({ operation: 'cancelTask' }, 'reset-before');

  await engine.cancel(run.id);

  expect(await world.ended(run)).toMatchObject({ status: 'cancelled', counts: { cancelled: 1 } });
  expect(world.sandbox.journal.effectsOf('cancelTask')).toHaveLength(1);
});

test('a worker that is about to send a request sends nothing if another machine cancels the run first', async () => {
  const engine = await start(1);
  const gate = aGate();
  around(world.caretaker.link('default').budget, 'takeNow', async (call, priority) => {
    const ticket = await call();
    if (priority === 'action' && world.sandbox.journal.countOf('showSite') > 0) await gate.pass();
    return ticket;
  });
  const run = await world.fire(policy);
  await gate.reached;

  await engine.cancel(run.id);
  gate.open();

  expect(await world.ended(run)).toMatchObject({ status: 'cancelled', counts: { cancelled: 1 } });
  expect(world.sandbox.journal.effects).toEqual([]);
});

test('as soon as another machine cancels a run, its workers start nothing more', async () => {
  world = await startWorld({ sites: 30, work: false, speedUp: 10 });
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).syncTakes(3_000);
  const workers = [await world.another(), await world.another()];
  stop = async () => undefined;
  const limits = { concurrency: 4, maxTargets: 100, maxPercent: 100 };
  const run = await world.fire(aPolicy({ limits }));
  const { journal } = world.sandbox;
  await until(world, () => journal.effectsOf('syncSite').length > 8);

  await world.caretaker.engine.cancel(run.id);
  const cancelledAt = world.clock.now();
  const end = await world.ended(run);

  expect(workers).toHaveLength(2);
  expect(end.status).toBe('cancelled');
  expect(end.counts.cancelled).toBeGreaterThan(10);
  expect(journal.effects.filter(({ at }) => at > cancelledAt + 2_000)).toEqual([]);
  // The two share the run: none of its syncs is requested by both.
  expect(new Set(journal.effectsOf('syncSite')).size).toBe(journal.effects.length);
  const { planned, succeeded, failed, skipped, cancelled } = end.counts;
  expect(succeeded + failed + skipped + cancelled).toBe(planned);
});
