/** The findings of a run of auto updates, also when the service does not show everything. */
import { expect, test } from 'vitest';
import {
  failedPercentage,
  type HistoryEntry,
  hasFailures,
  readRun,
  runFindings,
  type TaskDetails,
} from '../../../jobs/update-check/runs.ts';

const shop = {
  name: 'Shop',
  slug: 'shop',
  filename: 'shop.php',
  current_version: '9.1',
  target_version: '9.2',
};
const entry = (status: string, ...ids: string[]) =>
  ({
    auto_update_schedule: { id: 's-1', name: 'Plugins' },
    performed_on: '2026-11-21T02:00:00Z',
    task_id: 't-1',
    status,
    sites: ids.map((id) => ({ id, wp: { core: null, plugins: [shop], themes: [] } })),
  }) as HistoryEntry;

type Steps = { type?: string; status?: string; error?: object }[];
const task = (sites: Record<string, [status: string, steps?: Steps]>) =>
  ({
    id: 't-1',
    status: 'failed',
    details: { sites: Object.entries(sites).map(([id, [status, steps = []]]) => ({ id, status, steps })) },
  }) as unknown as TaskDetails;

const lines = (run: ReturnType<typeof readRun>) =>
  runFindings(run, 'error', (id) => `${id}.example`).map(
    ({ severity, about, message }) => `${severity} ${about}: ${message}`,
  );

test('each site has a finding, failures first, with step, error and versions', () => {
  const failed: Steps = [
    { type: 'backup', status: 'completed', error: {} },
    { type: 'update_plugin', status: 'failed', error: { code: 'x', message: 'Disk full' } },
  ];
  const run = readRun(
    entry('failed', 'a', 'b', 'c', 'd'),
    task({ a: ['completed'], b: ['failed', failed], c: ['aborted'], d: ['initializing'] }),
  );
  expect(lines(run)).toEqual([
    'error run of 2026-11-21 02:00Z: It failed: 1 updated, 1 failed, 1 aborted, 1 unfinished of 4 sites.',
    'error b.example: Failed at update_plugin: Disk full. Planned: Shop 9.1 → 9.2.',
    'error c.example: Aborted. Planned: Shop 9.1 → 9.2.',
    'warning d.example: Not finished. Planned: Shop 9.1 → 9.2.',
    'info a.example: Updated: Shop 9.1 → 9.2.',
  ]);
  expect(failedPercentage(run)).toBe(50);
});

test.each([
  [{ code: 'E42' }, 'E42.'],
  [{ reason: { deep: true } }, '{"reason":{"deep":true}}.'],
  [{}, 'without a message.'],
])('an error of any shape is reported: %j', (error, text) => {
  const run = readRun(entry('failed', 'a'), task({ a: ['failed', [{ status: 'failed', error }]] }));
  expect(lines(run)[1]).toBe(`error a.example: Failed at a step: ${text} Planned: Shop 9.1 → 9.2.`);
});

test('a run that failed counts as failed even if the results of its sites are not shown', () => {
  const run = readRun(entry('aborted', 'a', 'b'));
  expect(lines(run)).toEqual([
    'error run of 2026-11-21 02:00Z: It was aborted: the service does not show the results of its 2 sites.',
  ]);
  expect(hasFailures(run)).toBe(true);
  expect(failedPercentage(run)).toBeUndefined();
});

test('a run that completed but failed on one site counts as failed on that site', () => {
  const run = readRun(entry('completed', 'a', 'b'), task({ a: ['completed'], b: ['failed'] }));
  expect(lines(run)[0]).toContain(
    'error run of 2026-11-21 02:00Z: It completed: 1 updated, 1 failed of 2 sites.',
  );
  expect(hasFailures(run)).toBe(true);
});

test('an unknown status is reported unchanged, as a warning', () => {
  expect(lines(readRun(entry('postponed')))).toEqual([
    'warning run of 2026-11-21 02:00Z: It ended as "postponed": it lists no sites.',
  ]);
});

test('of many updates of a site, only the first are named', () => {
  const many = entry('completed', 'a');
  const plugins = Array.from({ length: 9 }, (_, index) => ({ ...shop, name: `P${index}` }));
  const core = { current_version: '6.8.2', target_version: '6.8.3' };
  Object.assign(many.sites?.[0]?.wp ?? {}, { core, plugins });
  expect(lines(readRun(many))[1]).toMatch(
    /^info a\.example: Updated: core 6\.8\.2 → 6\.8\.3, P0 .* and 4 more\.$/,
  );
});
