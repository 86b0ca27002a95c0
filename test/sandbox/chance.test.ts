import { describe, expect, test } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { published } from '../../src/contract/schema.ts';
import { faultNames, faultSets, parseFaults } from '../../src/sandbox/faults/names.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { fateOf, startCalling } from './calling.ts';

/** A sandbox in which a fault always occurs. */
const always = (fault: keyof typeof faultNames, options: SandboxOptions = {}) =>
  startCalling({ sites: 3, faults: { [fault]: 1 }, ...options });

describe('a random fault', () => {
  test.each([
    ['error-before', 500, []],
    ['error-after', 500, ['site-0001']],
    ['reset-before', 'lost', []],
    ['reset-after', 'lost', ['site-0001']],
    ['truncate', 'lost', ['site-0001']],
    ['garbage', 'lost', ['site-0001']],
    ['bare-429', 429, []],
    ['maintenance', 'lost', []],
    ['other-consumer', 200, ['site-0001']],
    ['unknown-values', 200, ['site-0001']],
    ['moving-items', 200, ['site-0001']],
    ['unstable-order', 200, ['site-0001']],
    ['too-few-pages', 200, ['site-0001']],
    ['absent-fields', 200, ['site-0001']],
    ['other-timestamps', 200, ['site-0001']],
    ['numbers-as-text', 200, ['site-0001']],
    ['other-errors', 200, ['site-0001']],
    ['hostile-text', 200, ['site-0001']],
    ['html-errors', 200, ['site-0001']],
    ['html-400', 'lost', []],
    ['redirect', 'lost', []],
    ['redirect-away', 'lost', []],
    ['gzip-accepted', 200, ['site-0001']],
    ['gzip', 200, ['site-0001']],
  ] as const)('%s: the caller sees %s, and what was done is %j', async (fault, fate, effects) => {
    const { sandbox, post } = await always(fault);
    expect(await fateOf(post('/sites/site-0001/sync'))).toBe(fate);
    expect(sandbox.journal.effectsOf('syncSite')).toEqual(effects);
    expect(sandbox.journal.requests).toMatchObject([{ operation: 'syncSite', fault }]);
  });

  test('occurs at its rate, and affects the same requests for the same seed', async () => {
    const fates = async (seed: number, requests: number) => {
      const { get } = await startCalling({ sites: 1, seed, faults: { 'error-before': 0.3 } });
      const met: (number | 'lost')[] = [];
      for (let count = 0; count < requests; count += 1) met.push(await fateOf(get('/tags')));
      return met;
    };
    const first = await fates(1, 100);
    expect(await fates(1, 20)).toEqual(first.slice(0, 20));
    expect(await fates(2, 20)).not.toEqual(first.slice(0, 20));
    const failed = first.filter((status) => status === 500).length;
    expect(failed).toBeGreaterThan(15);
    expect(failed).toBeLessThan(45);
  });

  test('combines with others: an answer can be both late and changed, and the most severe stop decides', async () => {
    const { sandbox, post } = await startCalling({
      sites: 1,
      faults: { 'reset-after': 1, 'error-after': 1 },
    });
    expect(await fateOf(post('/sites/site-0001/sync'))).toBe('lost');
    expect(sandbox.journal.requests[0]?.fault).toBe('reset-after');
  });
});

test('a slow answer comes ten seconds late by the clock, and its change was made immediately', async () => {
  const { sandbox, clock, post } = await always('slow');
  const call = fateOf(post('/sites/site-0001/sync'));
  while (clock.sleepers() === 0) await new Promise(setImmediate);
  expect(sandbox.journal.effectsOf('syncSite')).toEqual(['site-0001']);
  await clock.advance(9_999);
  expect(clock.sleepers()).toBe(1);
  await clock.advance(1);
  expect(await call).toBe(200);
});

test('a 429 without headers shows nothing about the limit', async () => {
  const { get } = await always('bare-429', { rateLimit: 100 });
  const { status, headers } = await get('/sites');
  expect([status, headers.get('x-ratelimit-remaining')]).toEqual([429, null]);
});

test('another consumer uses up ten requests at a time', async () => {
  const { get } = await always('other-consumer', { rateLimit: 25 });
  const remaining = async () => (await get('/sites')).headers.get('x-ratelimit-remaining');
  expect([await remaining(), await remaining()]).toEqual(['14', '3']);
  expect((await get('/sites')).status).toBe(429);
});

test('maintenance takes whole minutes', async () => {
  const { sandbox, clock } = await startCalling({ sites: 1, faults: { maintenance: 0.5 } });
  const statuses: number[] = [];
  const ask = async () => {
    const response = await fetch(`${sandbox.url}/sites`, {
      headers: { authorization: `Bearer ${sandbox.token}` },
    });
    const type = response.headers.get('content-type') ?? '';
    expect(type.startsWith(response.status === 503 ? 'text/html' : 'application/json')).toBe(true);
    expect(response.headers.get('retry-after')).toBe(response.status === 503 ? '60' : null);
    await response.arrayBuffer();
    return response.status;
  };
  for (let minute = 0; minute < 12; minute += 1) {
    const [first, second] = [await ask(), await ask()];
    expect(second).toBe(first);
    statuses.push(first);
    await clock.advance(60_000);
  }
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
});

test('successful answers get unknown values and fields, which the strict contract refuses', async () => {
  const { get } = await always('unknown-values');
  const { status, body } = await get('/tasks');
  expect(status).toBe(200);
  expect(body.introduced_later).toEqual({ since: '6.1.0' });
  expect(body.tasks[0].status).toBe('introduced_later');
  expect(published(operations.listTasks.answer).safeParse(body).success).toBe(false);
  expect((await get('/sites/nowhere')).body).toEqual({ error: expect.any(Object) });
});

test('when items move between pages, one is shown twice and one not at all', async () => {
  const { sandbox, ids } = await always('moving-items', { sites: 9 });
  const seen = [
    ...(await ids('/sites?sort=created_at,asc&perPage=3')),
    ...(await ids('/sites?sort=created_at,asc&perPage=3&page=2')),
  ];
  expect(seen).toEqual([1, 2, 3, 3, 4, 5].map((number) => `site-000${number}`));
  expect(sandbox.siteIds()).toHaveLength(9);
});

test('with an unstable order, a later page shows what the page before should show', async () => {
  const { ids } = await always('unstable-order', { sites: 9 });
  expect(await ids('/sites?sort=created_at,asc&perPage=3&page=2')).toEqual([
    'site-0001',
    'site-0002',
    'site-0003',
  ]);
});

test('a list can show fewer pages than its items need', async () => {
  const { get } = await always('too-few-pages', { sites: 9 });
  const { meta } = (await get('/sites?perPage=3')).body;
  expect(meta.pagination).toMatchObject({ totalItems: 9, totalPages: 1 });
});

test.each([
  ['failing-tasks', 'failed'],
  ['aborted-tasks', 'aborted'],
  ['stuck-tasks', 'running'],
] as const)('with %s a task that callers start is %s after a day', async (fault, status) => {
  const { clock, get, post } = await always(fault, { sites: 60 });
  const { sites } = (await get('/sites?filters[backups:eq]=true&filters[connection_status:eq]=connected'))
    .body;
  const { id, backups } = sites.find((site: { backups: { latest_snapshot: { status: string } | null } }) => {
    return site.backups.latest_snapshot?.status === 'succeeded';
  });
  const download = { scope: { include_files: true } };
  const { body } = await post(`/sites/${id}/backups/${backups.latest_snapshot.id}/download`, { download });
  await clock.advance(86_400_000);
  expect((await get(`/tasks/${body.task.id}`)).body.task.status).toBe(status);
});

test('storage that is down answers tests of destinations with 503', async () => {
  const { sandbox, post } = await always('storage-down');
  expect((await post('/backup-destinations/provider_two/test')).status).toBe(503);
  expect(sandbox.journal.effects).toEqual([]);
});

describe('faults are given by name', () => {
  test('with their default rate, with another rate, and in sets', () => {
    expect(parseFaults('slow')).toEqual({ slow: faultNames.slow.rate });
    expect(parseFaults('reset-after:0.05, slow:1')).toEqual({ 'reset-after': 0.05, slow: 1 });
    expect(parseFaults('flaky')).toEqual(faultSets.flaky);
    expect(parseFaults('flaky,slow:0')).toEqual({ ...faultSets.flaky, slow: 0 });
    expect(parseFaults('bad-tasks:0.5')).toEqual({
      'stuck-tasks': 0.5,
      'failing-tasks': 0.5,
      'aborted-tasks': 0.5,
    });
    expect(parseFaults('')).toEqual({});
  });

  test('and an unknown name or an invalid rate is refused with the available names', () => {
    expect(() => parseFaults('flakey')).toThrow('Available: flaky, busy');
    for (const rate of ['2', '-1', 'often', ''])
      expect(() => parseFaults(`slow:${rate}`)).toThrow(RangeError);
    expect(() => parseFaults('constructor')).toThrow(RangeError);
  });
});
