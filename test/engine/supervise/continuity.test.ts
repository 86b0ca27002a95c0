/** How a process detects that Redis was restored to an older state, or emptied, also before it was started. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { openContinuity } from '../../../src/engine/supervise/continuity.ts';
import { keys } from '../../../src/records/keys.ts';
import { prepareRecords } from '../../../src/records/migrations/migrate.ts';
import { RECORDS_VERSION } from '../../../src/records/migrations/migrations.ts';
import { openRecords } from '../../../src/records/records.ts';
import { around } from '../../support/between.ts';
import { aRun, aTarget } from '../../support/builders.ts';
import { heldClock, NOON } from '../../support/held-clock.ts';
import { keptLog } from '../../support/quiet.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';

let redis: TestRedis;
let dataDir: string;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'caretaker-continuity-'));
  redis = await startTestRedis({ appendfsync: 'always' });
});
afterEach(async () => {
  await redis.stop();
  rmSync(dataDir, { recursive: true });
});

const clock = {
  now: () => NOON,
  sleep: (_ms: number, signal?: AbortSignal) =>
    new Promise<void>((done) => signal?.addEventListener('abort', () => done())),
};

/** Records on a connection of their own, which ends with the test. */
function connect() {
  const store = new Redis({ ...redis.options, maxRetriesPerRequest: null });
  store.on('error', () => undefined);
  onTestFinished(() => store.disconnect());
  return { store, records: openRecords(store) };
}

/** What a process does between its start and its end, on a connection of its own. */
async function process<T>(
  folder: string,
  work: (records: ReturnType<typeof openRecords>, log: ReturnType<typeof keptLog>) => Promise<T>,
): Promise<T> {
  const store = new Redis(redis.options);
  const records = openRecords(store);
  const log = keptLog();
  const continuity = await openContinuity({ records, prepare: async () => {}, dataDir: folder, clock, log });
  try {
    return await work(records, log);
  } finally {
    await continuity.close();
    store.disconnect();
  }
}

const run = aRun({ account: 'agency' });
const begin = async ({ runs }: ReturnType<typeof openRecords>) => {
  await runs.create(run, { concurrency: 1, targetMs: 1_000 });
  await runs.move(run, 'planning', { at: NOON });
};
const heldNow = ({ runs }: ReturnType<typeof openRecords>) =>
  runs.held(['agency']).then(([one]) => one?.held);

/** Restores Redis to its state after `before`, without the changes of `after`. */
async function putBackBefore(before: () => Promise<unknown>, after: () => Promise<unknown>): Promise<void> {
  const data = join(redis.serverDir, 'appendonlydir');
  const kept = join(dataDir, 'snapshot');
  await before();
  await redis.kill();
  cpSync(data, kept, { recursive: true });
  await redis.restart();
  await after();
  await redis.kill();
  rmSync(data, { recursive: true });
  cpSync(kept, data, { recursive: true });
  await redis.restart();
}

test('active runs are held when Redis is older than the data folder remembers, and only then', async () => {
  await putBackBefore(
    () => process(dataDir, begin),
    async () => {
      // Nothing is older: a restarted process continues.
      expect(await process(dataDir, heldNow)).toEqual([]);
    },
  );

  await process(dataDir, async (records, log) => {
    expect(await heldNow(records)).toEqual([run.id]);
    expect((await records.runs.get(run.id))?.detail).toContain(`caretaker runs cancel ${run.id}`);
    expect(log.lines.filter((line) => line.startsWith('error'))).toHaveLength(1);
    expect(log.lines.filter((line) => line.startsWith('warn'))).toEqual([
      expect.stringContaining('The run is held'),
    ]);
    // Scheduled times that were due meanwhile are skipped, as during a freeze.
    const { freezes } = await records.policies.state('any');
    expect(freezes?.pauses).toMatchObject([{ by: 'caretaker', until: NOON }]);
    // Runs are held only once: those created afterwards are not in doubt.
    await records.runs.release(run, NOON);
  });
  expect(await process(dataDir, heldNow)).toEqual([]);
});

test('a data folder that was never used with this Redis detects nothing', async () => {
  await process(dataDir, begin);
  const other = join(dataDir, 'other');
  expect(await process(other, heldNow)).toEqual([]);
  // Neither does one that was used with another Redis meanwhile.
  const elsewhere = redis;
  redis = await startTestRedis();
  expect(
    await process(dataDir, async ({ runs }, log) => [
      (await runs.held(['agency']))[0]?.held,
      log.lines.filter((line) => line.startsWith('error')),
    ]),
  ).toEqual([[], []]);
  await redis.stop();
  redis = elsewhere;
  expect(await process(dataDir, heldNow)).toEqual([]);
});

test('a process that remembers more than Redis has stores no intent until Redis was checked', async () => {
  const { records } = connect();
  let step = 0;
  const noteIntent = (at: number) =>
    records.targets.noteIntent(run.id, { id: 'a', fence: step }, { operation: 'syncSite', at });
  await putBackBefore(
    async () => {
      await begin(records);
      await records.generation.raise(NOON);
      await records.plans.add(run.id, await records.plans.begin(run.id), [aTarget('a')]);
      await records.runs.move(run, 'running', { at: NOON, planComplete: true });
      const [released] = await records.targets.dispatch(run.id, NOON, 1);
      if (!released) throw new Error('Nobody else can have it.');
      step = (await records.targets.claim(run, released, NOON))?.target.fence ?? 0;
    },
    async () => {
      expect(await noteIntent(NOON)).toBe(step + 1);
    },
  );

  expect(await noteIntent(NOON + 1)).toBe('fenced');
});

test('an emptied Redis has its version again when that is noticed, also when it is emptied during the check', async () => {
  const { store, records } = connect();
  const log = keptLog();
  const prepare = () => prepareRecords({ store, owner: 'web-1.7.9f2c01ab-v4', clock, log });
  const continuity = await openContinuity({ records, prepare, dataDir, clock, log });
  // Between its two commands: one looks for the version, the other raises the number.
  around(records.generation, 'raise', async (raise) => {
    await store.flushall();
    return raise();
  });

  await continuity.check();

  expect(log.lines).toEqual([expect.stringContaining('error Redis was emptied')]);
  expect(await store.hget(keys.schema, 'version')).toBe(String(RECORDS_VERSION));
  await continuity.close();
});

test('an answer from before Redis was emptied does not make the new records seem to be older', async () => {
  const { store, records } = connect();
  const { generation } = records;
  for (let count = 0; count < 5; count += 1) await generation.raise(NOON);
  const before = generation.remembered;
  await store.flushall();
  expect(await generation.raise(NOON)).toMatchObject({ is: 'emptied', number: 1 });

  generation.observe({ ...before, number: before.number + 1 });

  expect(await generation.raise(NOON)).toMatchObject({ is: 'current', number: 2 });
});

test('that Redis was emptied is noticed within seconds also after its clock went back', async () => {
  const { store, records } = connect();
  const log = keptLog();
  const held = heldClock();
  let ahead = 600_000;
  const jumping = { ...held, now: () => held.now() + ahead };
  const prepare = () => prepareRecords({ store, owner: 'web-1.7.9f2c01ab-v4', clock: jumping, log });
  const continuity = await openContinuity({ records, prepare, dataDir, clock: jumping, log });

  ahead = 0;
  await store.flushall();
  // It sleeps again when it has looked.
  while (log.lines.length === 0 && held.now() - NOON < 60_000)
    if (held.sleepers() > 0) await held.advance(1_000);
    else await new Promise(setImmediate);
  await continuity.close();

  expect(log.lines).toEqual([expect.stringContaining('error Redis was emptied')]);
});
