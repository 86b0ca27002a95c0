/** The list of runs over HTTP: its filters, its pages, its file, and who sees what. */
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { listRuns } from '../../src/control/runs.ts';
import { openReader } from '../../src/dashboard/queries/reader.ts';
import type { Run } from '../../src/run/run.ts';
import { aRun, ended, remember, startWorld, type World } from './world.ts';

const HOUR = 3_600_000;
const NOW = Date.now();
let world: World;
afterEach(() => world.stop());

/** A run that has ended, `hours` ago. */
async function aStoredRun(id: string, hours: number, changes: Partial<Run> = {}, reason?: string) {
  const run = aRun({ id, createdAt: NOW - hours * HOUR, ...changes });
  await remember(world.records, run, [ended('a', reason ? 'failed' : 'succeeded', reason ? { reason } : {})]);
  await world.records.runs.move(run, reason ? 'failed' : 'succeeded', { at: NOW - hours * HOUR });
}

/** The ids of the listed runs, in their order. */
async function listed(query = ''): Promise<string[]> {
  const { html } = await world.look(`/runs${query}`);
  return [...html.matchAll(/<tr data-key="([^"]+)"/g)].map(([, id = '']) => id);
}

async function threeRuns() {
  world = await startWorld();
  await aStoredRun('sync.1', 50);
  await aStoredRun('sync.2', 26, { trigger: 'manual' }, 'timeout');
  await aStoredRun('weekly.1', 2, { policy: 'weekly', account: 'hotels' }, 'task-failed');
  const active = aRun({ id: 'sync.3', createdAt: NOW - HOUR });
  await remember(world.records, active, []);
}

test('each filter of the list of runs finds what it says, alone and with others', async () => {
  await threeRuns();

  expect(await listed()).toEqual(['sync.3', 'weekly.1', 'sync.2', 'sync.1']);
  expect(await listed('?status=failed')).toEqual(['weekly.1', 'sync.2']);
  expect(await listed('?status=active')).toEqual(['sync.3']);
  expect(await listed('?policy=weekly')).toEqual(['weekly.1']);
  expect(await listed('?trigger=manual')).toEqual(['sync.2']);
  expect(await listed('?account=hotels')).toEqual(['weekly.1']);
  expect(await listed('?reason=timeout')).toEqual(['sync.2']);
  expect(await listed('?from=1d')).toEqual(['sync.3', 'weekly.1']);
  expect(await listed('?to=1d&status=failed')).toEqual(['sync.2']);
  expect(await listed(`?from=${new Date(NOW - 27 * HOUR).toISOString()}&to=1d`)).toEqual(['sync.2']);
  expect(await listed('?reason=timeout&account=hotels')).toEqual([]);
});

test('each set filter is a chip that leads to the list without it', async () => {
  await threeRuns();
  const { html } = await world.look('/runs?status=failed&reason=timeout&from=7d');

  expect(html).toContain('href="/runs?reason=timeout&amp;from=7d"');
  expect(html).toContain('href="/runs?status=failed&amp;from=7d"');
  expect(html).toContain('href="/runs.csv?status=failed&amp;reason=timeout&amp;from=7d"');
});

test('a filter that cannot be understood is said, and nothing is listed as if it matched', async () => {
  await threeRuns();
  const { html } = await world.look('/runs?from=tonight&status=broken');

  expect(html).toContain('There is no status “broken”.');
  expect(html).toContain('“tonight” is neither a time nor a duration');
  expect(await listed('?from=tonight')).toEqual([]);
  expect((await world.look('/runs.csv?from=tonight')).status).toBe(400);
});

test('a page of runs that a filter looks for has its full length, and the next page continues after it', async () => {
  world = await startWorld();
  for (let at = 0; at < 9; at += 1) {
    const trigger = at % 3 === 0 ? 'manual' : 'schedule';
    await world.records.runs.create(aRun({ id: `r.${at}`, createdAt: NOW - at * HOUR, trigger }), {
      concurrency: 1,
      targetMs: 1,
    });
  }
  const reader = openReader(world.records, systemClock);
  const first = await listRuns(reader, { trigger: 'manual' }, { limit: 2 });
  expect(first.runs.map(({ id }) => id)).toEqual(['r.0', 'r.3']);
  const second = await listRuns(reader, { trigger: 'manual' }, { limit: 2, after: first.next });
  expect(second.runs.map(({ id }) => id)).toEqual(['r.6']);
  expect(second.next).toBeUndefined();
});

test('the file has every run that the filters list, in lines that a spreadsheet does not run', async () => {
  await threeRuns();
  await aStoredRun('sync.evil', 3, { detail: '=1+1,"x"' });
  const answer = await (await world.signedIn())('/runs.csv?from=7d');
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(bytes.subarray(0, 3).toString('hex'), 'the mark by which Excel reads UTF-8').toBe('efbbbf');
  const lines = bytes.subarray(3).toString().trimEnd().split('\r\n');

  expect(answer.headers.get('content-type')).toContain('text/csv');
  expect(answer.headers.get('content-disposition')).toMatch(/attachment; filename="runs-[\d-]+\.csv"/);
  expect(lines[0]).toBe(
    'run,policy,account,status,trigger,created_at,started_at,finished_at,planned,succeeded,failed,skipped,cancelled,requests,detail',
  );
  expect(lines.slice(1).map((line) => line.split(',')[0])).toEqual([
    'sync.3',
    'weekly.1',
    'sync.evil',
    'sync.2',
    'sync.1',
  ]);
  expect(lines[3]).toContain(`"'=1+1,""x"""`);
});
