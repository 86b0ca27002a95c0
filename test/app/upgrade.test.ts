/**
 * Records that an earlier commit of Caretaker wrote: the current code reads them, and continues unfinished
 * work.
 */
import { Redis } from 'ioredis';
import { afterEach, expect, test } from 'vitest';
import { RECORDS_VERSION } from '../../src/records/migrations/migrations.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import { type Desk, openDesk } from '../support/cli.ts';
import { loadRecords, recordsOf } from '../support/old-records.ts';

const old = recordsOf('ce02494');
const MINUTE = 60_000;

let world: World | undefined;
let desk: Desk | undefined;
afterEach(async () => {
  await world?.stop();
  await desk?.clear();
  [world, desk] = [undefined, undefined];
});

/** What the earlier processes had requested from the service: it continues there after they ended. */
async function asBefore({ url, token }: Pick<Sandbox, 'url' | 'token'>): Promise<void> {
  const post = async (path: string, body?: object) => {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  };
  for (const site of ['site-0009', 'site-0008', 'site-0007'])
    await post(`/sites/${site}/notes`, { note: { content: 'Cut in the middle.' } });
  for (const site of ['site-0012', 'site-0011', 'site-0010']) await post(`/sites/${site}/sync`);
}

/** A world that begins a minute after the records were saved. */
async function upgraded({ laterMs = MINUTE, work = true } = {}): Promise<World> {
  world = await startWorld({
    sites: old.sites,
    from: old.at + laterMs,
    work,
    async before({ redis, sandbox }) {
      const store = new Redis(redis.options);
      await loadRecords(store, old, laterMs);
      store.disconnect();
      await asBefore(sandbox);
    },
  });
  return world;
}

test('runs that an earlier commit left unfinished are completed, and no site is changed a second time', async () => {
  const { ended, sandbox, caretaker, log } = await upgraded();
  const { runs } = old;

  expect(await ended(runs.notes)).toMatchObject({
    status: 'succeeded',
    counts: { planned: 12, succeeded: 12 },
  });
  expect(await ended(runs.slow)).toMatchObject({
    status: 'succeeded',
    counts: { planned: 12, succeeded: 12 },
  });

  for (const operation of ['createSiteNote', 'syncSite'] as const) {
    const sites = sandbox.journal.effectsOf(operation);
    expect(sites).toHaveLength(12);
    expect(new Set(sites).size).toBe(12);
  }
  expect(await caretaker.redis.store.hgetall('{caretaker}:schema')).toMatchObject({
    migrated: String(RECORDS_VERSION),
  });
  const told = log.lines.filter((line) => /the records were migrated to version/.test(line));
  expect(told).toHaveLength(RECORDS_VERSION);
});

test('all records of an earlier commit are read: runs, scheduled times, pauses, freezes, a blocked account, the last day', async () => {
  const { caretaker } = await upgraded({ work: false });
  const { records } = caretaker;

  const list = await records.runs.list({ limit: 100 });
  expect(list.map(({ id, status }) => `${id.split('.')[0]} ${status}`).sort()).toEqual([
    'first-notes running',
    'hourly-notes succeeded',
    'monthly-reports succeeded',
    'nightly-sync succeeded',
    'nightly-sync succeeded',
    'other-sync blocked',
    'slow-sync running',
    'update-check succeeded',
  ]);
  expect(await records.ledger.latest('nightly-sync', 10)).toMatchObject([
    { is: 'skipped', why: 'frozen', note: 'by anna: the sale' },
    { is: 'ran' },
  ]);
  const states = await records.policies.many(['monthly-reports', 'update-check']);
  expect(states.get('monthly-reports')).toMatchObject({ pause: { by: 'anna', reason: 'plugin freeze' } });
  expect(states.get('update-check')?.pauses).toHaveLength(1);
  expect(states.get('update-check')?.freezes).toMatchObject({ pause: { reason: 'the sale' } });
  expect((await records.accounts.blocked('other'))?.why).toContain('refuses our token');
  // A run is retried with its own policy, whose options now have other names.
  const [sync = '', report = '', check = ''] = await Promise.all(
    old.runs.ended.map(async (id) => (await records.runs.get(id))?.policyJson),
  );
  expect(JSON.parse(sync).options).toEqual({ mode: 'stale', max_age: 30 * MINUTE });
  expect(JSON.parse(report).options).toMatchObject({ dedupe_by: 'period' });
  expect(JSON.parse(check).options).toHaveProperty('lookback');
  // Totals were added by a later commit: the migration counts the runs that had ended before.
  const { runs, active } = await records.totals.between(old.at - 3 * 3_600_000, old.at);
  expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['succeeded']));
  expect(runs.reduce((sum, { count }) => sum + count, 0)).toBe(5);
  expect(active).toHaveLength(3);
});

test('processes of releases before records had a version are refused, and report that', async () => {
  const { redis } = await upgraded({ work: false });
  const store = new Redis(redis.options);

  // What each of their rounds starts with: the freeze, the accounts, and the entries that a worker takes.
  await expect(store.hgetall('{caretaker}:freeze')).rejects.toThrow('WRONGTYPE');
  await expect(store.smembers('{caretaker}:active')).rejects.toThrow('WRONGTYPE');
  expect(await store.get('{caretaker}:freeze')).toContain('newer version of Caretaker');
  expect(await store.keys('{caretaker}:actions:*')).toEqual([]);
  expect(await store.lrange('{caretaker}:queue:actions:active', 0, -1)).toHaveLength(1);
  store.disconnect();
});

test('records are not migrated while the processes that wrote them are running', async () => {
  await expect(upgraded({ laterMs: 0 })).rejects.toThrow(
    'an older release still uses them: process 19703 on vm. Stop it, then start this one again.',
  );
  world = undefined;
});

test('a running process stops when a newer release has migrated the records, and sends no change from then on', async () => {
  let told: (error: Error) => void = () => undefined;
  const ends = new Promise<Error>((resolve) => {
    told = resolve;
  });
  world = await startWorld({ sites: 3, onOtherVersion: (error) => told(error) });
  const { caretaker, sandbox, clock, fire } = world;

  await caretaker.redis.store.hset('{caretaker}:schema', 'version', 99);
  await fire(aPolicy());

  expect((await ends).message).toMatch(
    /^The records in Redis have version 99, and this release of Caretaker works with version \d+: upgrade Caretaker/,
  );
  // A minute in which the run would have been completed.
  await clock.sleep(MINUTE);
  expect(sandbox.journal.effects).toEqual([]);
});

test('"runs", "runs show" and "why" show what an earlier commit recorded', async () => {
  desk = openDesk({ CARETAKER_BASE_URL: 'http://127.0.0.1:9/api/v6', CARETAKER_API_TOKEN: 'none' });
  const { redis } = await desk.keepRedis();
  await redis.store.flushall();
  await loadRecords(redis.store, old, MINUTE);

  const runs = await desk.run(['runs']);
  expect(runs.stdout).toContain(old.runs.notes);
  expect(runs.code).toBe(0);
  const [report = ''] = old.runs.ended.slice(1);
  const shown = await desk.run(['runs', 'show', report]);
  expect(shown.stdout).toMatch(/succeeded.*2/);
  expect(shown.code).toBe(0);
  const why = await desk.run(['why', 'nightly-sync', '2026-11-21T19:00Z']);
  expect(why.stdout).toContain('by anna: the sale');
});
