/** Backups of the records: taken while runs work, restored into another or an emptied Redis. */
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { restoreBackup, takeBackup } from '../../src/app/backup.ts';
import { type Caretaker, openCaretaker } from '../../src/app/caretaker.ts';
import { systemClock } from '../../src/clock.ts';
import { serviceAddress } from '../../src/contract/service-address.ts';
import { keys } from '../../src/records/keys.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { redisTroubles } from '../../src/redis/health.ts';
import { folderWith } from '../settings/folder.ts';
import { until, type World } from '../support/caretaker.ts';
import { quickSyncs } from '../support/quick-syncs.ts';
import { keptLog } from '../support/quiet.ts';
import { startTestRedis } from '../support/redis.ts';
import { worldOfTest } from '../support/world-of-test.ts';
import { notesOf, perSite } from './notes.ts';

const SITES = 12;
const by = { who: { kind: 'local', name: 'ops' }, from: 'cli@here' } as const;
const DAY_MS = 86_400_000;
const notes = notesOf('notes');
const deletions = perSite('deletions', { operation: 'deleteSite' });
let world: World;
let folder: string;
let file: string;

beforeEach(() => {
  folder = folderWith({});
  file = join(folder, 'records.gz');
});

/** The settings of another machine: a new Redis and an empty data folder. */
async function elsewhere() {
  const fresh = await startTestRedis();
  onTestFinished(() => fresh.stop());
  return {
    redis: { kind: 'url', url: fresh.socketPath } as const,
    dataDir: join(folder, 'data'),
    audit: { keptMs: 400 * DAY_MS },
  };
}

/** A Caretaker there. */
async function openThere(settings: Awaited<ReturnType<typeof elsewhere>>): Promise<Caretaker> {
  const opened = await openCaretaker({
    ...{ settings: { ...world.caretaker.settings, ...settings }, log: keptLog(), clock: world.clock },
  });
  onTestFinished(() => opened.close());
  return opened;
}

const restoreTo = (settings: Parameters<typeof restoreBackup>[1], replace = false, from = file) =>
  restoreBackup(from, settings, { replace, by, log: keptLog(), clock: world.clock });

// A held run that is cancelled: restored.test.ts.
test('a run that was backed up in its middle is held after the restore, and once released it finds what is done', async () => {
  world = await worldOfTest({ before: quickSyncs, sites: SITES });
  const { caretaker } = world;
  const effects = () => world.sandbox.journal.effectsOf('deleteSite');
  const run = await world.fire(deletions);
  await until(world, () => effects().length >= 3);
  await takeBackup(file, caretaker, by);
  expect((await caretaker.records.runs.get(run.id))?.status).toBe('running');
  expect(await world.ended(run)).toMatchObject({ status: 'succeeded', counts: { succeeded: SITES } });
  const settings = await elsewhere();

  expect(await restoreTo(settings)).toMatchObject({ runs: 1, held: [run.id] });
  const { records, engine } = await openThere(settings);
  const working = engine.work(50);
  onTestFinished(() => working.stop());
  expect(await records.runs.get(run.id)).toMatchObject({ status: 'running', held: expect.anything() });
  // Half a minute of the world's time, in which a worker would have continued the run.
  await systemClock.sleep(500);
  expect(effects()).toHaveLength(SITES);
  const acts: string[] = [];
  for await (const { line } of records.audit.newestFirst({})) acts.push(`${line.what}: ${line.detail}`);
  expect(acts).toContainEqual(
    expect.stringMatching(/^records\.restore: taken at 20.*Z, 1 runs, 1 of them held$/),
  );

  await engine.release(run.id);

  await until(world, async () => (await records.runs.get(run.id))?.finishedAt !== undefined);
  const ended = await records.runs.get(run.id);
  expect(ended).toMatchObject({ counts: { planned: SITES, failed: 0 } });
  expect(ended?.held).toBeUndefined();
  await expect(engine.release(run.id)).rejects.toThrow('has already ended');
  expect(new Set(effects()).size).toBe(SITES);
  expect(effects()).toHaveLength(SITES);
});

test('everything that is kept is the same after a restore, with expiry and indexes', async () => {
  world = await worldOfTest({ before: quickSyncs, sites: 3 });
  const { caretaker } = world;
  const done = await world.ended(await world.fire(notes));
  await caretaker.records.policies.pause('other', { at: 1, by: 'ops' });
  const report = async (from: Caretaker['records']) => ({
    runs: await from.runs.list({ policy: 'notes', status: 'succeeded', limit: 10 }),
    targets: await from.targets.slice(done.id, 0, 10),
    active: await from.runs.activeAccounts(),
    pause: (await from.policies.state('other')).pause,
    // Without it, a process with another service would take the records for its own.
    address: await from.accounts.addressOf('default'),
    ofTarget: await from.targets.runsOf('default', (await from.targets.slice(done.id, 0, 1))[0]?.id ?? ''),
  });
  await caretaker.records.sites.replace('default', 1, [{ id: 's', title: 'Shop', url: '' }]);
  const before = await report(caretaker.records);
  const totals = (await caretaker.redis.store.keys(keys.totals('*')))[0] ?? '';
  const ttl = await caretaker.redis.store.pttl(totals);
  await takeBackup(file, caretaker, by);
  const settings = await elsewhere();
  await restoreTo(settings);

  const reopened = await openThere(settings);

  expect(await report(reopened.records)).toEqual({ ...before, active: [] });
  expect(before).toMatchObject({ runs: [{}], address: serviceAddress(world.sandbox.url) });
  const left = await reopened.redis.store.pttl(totals);
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(ttl);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const text = gunzipSync(readFileSync(file)).toString();
  expect(text).not.toContain(world.sandbox.token);
  expect(text).not.toContain(`${keys.lock('')}`);
  // What the service showed of the sites is read again.
  expect(text).not.toContain(keys.sites(''));
  expect(text).not.toContain(keys.sitesRead);
});

test('a damaged file, records that are there, and running processes are refused, and nothing is changed', async () => {
  world = await worldOfTest({ before: quickSyncs, sites: 2 });
  const { caretaker } = world;
  const run = await world.ended(await world.fire(notes));
  await takeBackup(file, caretaker, by);
  const settings = await elsewhere();
  const restore = (from = file, replace = false) => restoreTo(settings, replace, from);
  // What "caretaker doctor" writes to look whether Redis accepts writes is no record.
  const looking = await connectRedis(settings.redis, settings.dataDir, keptLog());
  await redisTroubles(looking.store, { paused: async () => [] });
  await looking.close();
  await restore();

  await expect(restore()).rejects.toThrow('--replace deletes them');
  const { clock } = world;
  const seen = { startedAt: clock.now(), seenAt: clock.now() };
  await caretaker.records.presence.announce({
    ...{ id: 'night-shift.7.0badc0de-v5', pid: 7, host: 'night-shift', roles: ['worker'], ...seen },
  });
  await expect(restoreTo(caretaker.settings, true)).rejects.toThrow(
    /while processes use the records: .*process 7 on night-shift/,
  );
  expect(await caretaker.records.runs.get(run.id)).toBeDefined();

  const cut = join(folder, 'cut.gz');
  writeFileSync(cut, readFileSync(file));
  truncateSync(cut, statSync(cut).size - 40);
  await expect(restore(cut, true)).rejects.toThrow('cannot be read as a backup');
  const changed = join(folder, 'changed.gz');
  writeFileSync(
    changed,
    gzipSync(gunzipSync(readFileSync(file)).toString().replace('"records":', '"records" :')),
  );
  await expect(restore(changed, true)).rejects.toThrow('its checksum does not match');
  await expect(restore(join(folder, 'none.gz'), true)).rejects.toThrow('it does not exist');
  writeFileSync(changed, gzipSync('{}\n'));
  await expect(restore(changed, true)).rejects.toThrow('is not a backup of Caretaker');

  expect(await restore(file, true)).toMatchObject({ runs: 1, held: [] });
});

test('a restore that was interrupted keeps every process from starting until it is repeated', async () => {
  world = await worldOfTest({ before: quickSyncs, sites: 1 });
  const { caretaker } = world;
  await world.ended(await world.fire(notes));
  await takeBackup(file, caretaker, by);
  const settings = await elsewhere();
  await restoreTo(settings);
  const there = await connectRedis(settings.redis, settings.dataDir, keptLog());
  await there.store.hset(keys.schema, 'restoring', '1');
  await there.close();

  await expect(openThere(settings)).rejects.toMatchObject({ code: 'INCOMPLETE_RESTORE' });

  await restoreTo(settings, true);
  expect(await (await openThere(settings)).records.runs.list({ limit: 5 })).toHaveLength(1);
  expect(existsSync(`${file}.${process.pid}.part`)).toBe(false);
});
