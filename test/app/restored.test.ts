/** A Redis that is restored to an older state, or emptied, while runs are active. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { apiCall } from '../../jobs/api-call/job.ts';
import { type Daemon, startDaemon } from '../../src/app/daemon.ts';
import { systemClock } from '../../src/clock.ts';
import { keys } from '../../src/records/keys.ts';
import { RECORDS_VERSION } from '../../src/records/migrations/migrations.ts';
import { aGate, around } from '../support/between.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';
import { memoryFolder } from '../support/in-memory.ts';
import { quickSyncs } from '../support/quick-syncs.ts';
import { sampleOf } from '../support/sample.ts';

const SITES = 8;
const HOUR_MS = 3_600_000;
let world: World;
let folder: string;
let daemons: Daemon[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(memoryFolder(), 'caretaker-restored-'));
});
afterEach(async () => {
  for (const daemon of daemons) await daemon.stop();
  daemons = [];
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The data that Redis has on its disk; Redis is killed and restarted for that. */
const data = () => join(world.redis.serverDir, 'appendonlydir');
async function takeSnapshot(): Promise<void> {
  await world.redis.kill();
  cpSync(data(), join(folder, 'snapshot'), { recursive: true });
  await world.redis.restart();
}
async function putBack(): Promise<void> {
  await world.redis.kill();
  rmSync(data(), { recursive: true });
  cpSync(join(folder, 'snapshot'), data(), { recursive: true });
  await world.redis.restart();
}

const notes = aPolicy({
  name: 'notes',
  job: 'api-call',
  select: { from: 'listSites', filters: {} },
  options: apiCall.options.parse({
    operation: 'createSiteNote',
    body: { note: { content: 'Leader.' } },
  }),
  limits: { concurrency: 1, maxTargets: 100, maxPercent: 100 },
});
const noted = () => world.sandbox.journal.effectsOf('createSiteNote').length;
const logged = (pattern: RegExp) => world.log.lines.filter((line) => pattern.test(JSON.stringify(line)));
const statusOf = async (id: string) => (await world.caretaker.records.runs.get(id))?.status;

/** An ended run whose Redis was restored to a state in the middle of the run. */
async function putBackInTheMiddle() {
  const run = await world.fire(notes);
  await until(world, () => noted() >= 3);
  await takeSnapshot();
  expect(await world.ended(run)).toMatchObject({ status: 'succeeded', counts: { succeeded: SITES } });
  expect(noted()).toBe(SITES);
  await putBack();
  return run;
}

test('a run that was active in the older state is held: nothing is sent again, and cancelling it lists the targets in doubt', async () => {
  world = await startWorld({ before: quickSyncs, sites: SITES });
  const { records, engine } = world.caretaker;
  const run = await putBackInTheMiddle();

  await until(world, async () => (await records.runs.get(run.id))?.held !== undefined);
  const held = await records.runs.get(run.id);
  expect(held?.detail).toContain(`"caretaker runs resume ${run.id} --release" continues it`);
  await until(world, () => logged(/Runs that had not ended are held: 1/).length > 0);
  // Half a minute of the world's time, in which a worker would have continued the run.
  await systemClock.sleep(500);
  expect(noted()).toBe(SITES);

  expect(logged(/Redis was restored to its state of .*: it is not known what was done/)).toHaveLength(1);

  await engine.cancel(run.id);
  const ended = await world.ended(run);
  const reasons = Object.values(await world.reasons(run));
  expect(ended).toMatchObject({ status: 'cancelled', counts: { planned: SITES, cancelled: 0 } });
  expect(new Set(reasons)).toEqual(new Set(['done', 'unknown-effect']));
  expect(noted()).toBe(SITES);
  // Runs that are fired afterwards are not affected.
  const next = await world.fire({
    ...notes,
    options: { ...(notes.options as object), body: { note: { content: 'Again.' } } },
  });
  expect(await world.ended(next)).toMatchObject({ status: 'succeeded' });
});

test('a held run continues with its open targets once a person releases it', async () => {
  world = await startWorld({ before: quickSyncs, sites: SITES });
  const { records, engine } = world.caretaker;
  const run = await putBackInTheMiddle();
  await until(world, async () => (await records.runs.get(run.id))?.held !== undefined);

  await engine.release(run.id);

  expect(await world.ended(run)).toMatchObject({ status: 'succeeded', counts: { succeeded: SITES } });
  expect((await records.runs.get(run.id))?.held).toBeUndefined();
  await expect(engine.release(run.id)).rejects.toThrow('has already ended');
});

test.runIf(sampleOf(false, true))(
  'a scheduled time that may have had its run is skipped, and its record has the reason',
  async () => {
    writeFileSync(
      join(folder, 'hourly.yaml'),
      'policies:\n  - { name: hourly, job: site-sync, schedule: { cron: "0 * * * *", catchup: 12h } }\n',
    );
    // A whole daemon, with the ticks of node-cron: only this shows that it notices the older state before it fires again.
    world = await startWorld({ before: quickSyncs, sites: 1, speedUp: 10, work: false, policiesDir: folder });
    const { caretaker, clock } = world;
    const { records } = caretaker;
    const start = async () => {
      const daemon = await startDaemon({ caretaker, roles: ['scheduler', 'worker'] });
      daemons.push(daemon);
      return daemon;
    };
    await start();
    await until(world, async () => (await records.policies.state('hourly')).cursor !== undefined);
    await takeSnapshot();
    const toTheHour = () => clock.leap(HOUR_MS - (clock.now() % HOUR_MS));
    toTheHour();
    const ledger = () => records.ledger.latest('hourly', 10);
    await until(world, async () => (await ledger()).some(({ is }) => is === 'ran'));
    const [ran] = (await ledger()).filter(({ is }) => is === 'ran');
    await until(world, async () => (await statusOf(ran?.run ?? '')) === 'succeeded');
    await putBack();

    await until(world, async () =>
      (await ledger()).some(({ scheduledFor: moment }) => moment === ran?.scheduledFor),
    );
    const record = (await ledger()).find(({ scheduledFor: moment }) => moment === ran?.scheduledFor);

    expect(record).toMatchObject({ is: 'skipped', why: 'frozen' });
    expect(record?.note).toMatch(/^by caretaker: Redis was restored to its state of 20/);
    // Later scheduled times fire.
    const now = clock.now();
    toTheHour();
    await until(world, async () =>
      (await ledger()).some(({ is, scheduledFor: moment }) => is === 'ran' && moment > now),
    );
  },
);

test('an emptied Redis during a run is reported once, no key of the run is restored, and work continues', async () => {
  world = await startWorld({ before: quickSyncs, sites: SITES });
  const { redis } = world.caretaker;
  const run = await world.fire(notes);
  await until(world, () => noted() >= 3);

  await redis.store.flushall();

  await until(world, () => logged(/Redis was emptied/).length > 0);
  const next = await world.fire(aPolicy({ name: 'next' }));
  expect(await world.ended(next)).toMatchObject({ status: 'succeeded' });
  expect(logged(/Redis was emptied/)).toHaveLength(1);
  expect(await redis.store.keys(`{caretaker}:run:${run.id}*`)).toEqual([]);
});

test('a run that starts in an emptied Redis before that is noticed keeps everything that it records', async () => {
  world = await startWorld({ before: quickSyncs, sites: 3 });
  const { records, redis } = world.caretaker;
  const [noticing, claiming] = [aGate(), aGate()];
  around(redis.store, 'hmget', async (read, key) => {
    if (String(key) === keys.schema) await noticing.pass();
    return read();
  });
  around(records.targets, 'claim', async (claim) => {
    await claiming.pass();
    return claim();
  });

  await redis.store.flushall();
  const next = await world.fire(aPolicy({ name: 'next' }));
  // Its records have no version yet: they get it while the targets are worked on.
  await claiming.reached;
  noticing.open();
  claiming.open();
  expect(await world.ended(next)).toMatchObject({ status: 'succeeded' });

  await until(world, async () => Number(await redis.store.hget(keys.schema, 'migrated')) === RECORDS_VERSION);
  expect(new Set((await world.targets(next)).map(({ state }) => state))).toEqual(new Set(['ended']));
  await until(world, () => logged(/Redis was emptied/).length > 0);
});
