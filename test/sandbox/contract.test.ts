import { expect, test } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { handlers } from '../../src/sandbox/resources/table.ts';
import { startCalling } from './calling.ts';

test('every operation of the contract has a handler, and there are no others', () => {
  expect(Object.keys(handlers).sort()).toEqual(Object.keys(operations).sort());
});

test('everything that the generated account shows matches the contract', async () => {
  const { sandbox, get, ids } = await startCalling();
  for (const id of await ids('/clients')) await get(`/clients/${id}`);
  for (const id of await ids('/tags')) await get(`/tags/${id}`);
  for (const id of await ids('/tasks')) await get(`/tasks/${id}`);
  for (const id of await ids('/team-members')) await get(`/team-members/${id}`);
  for (const id of await ids('/staging-sites')) await get(`/staging-sites/${id}`);
  for (const id of await ids('/backup-destinations')) await get(`/backup-destinations/${id}`);
  await get('/managed-accounts');
  for (const site of sandbox.siteIds()) {
    await get(`/sites/${site}`);
    await get(`/sites/${site}/activity-logs`);
    for (const id of await ids(`/sites/${site}/custom-works`)) await get(`/sites/${site}/custom-works/${id}`);
    for (const id of await ids(`/sites/${site}/notes`)) await get(`/sites/${site}/notes/${id}/versions`);
    if ((await get(`/sites/${site}/snapshots?filters[created_at:gte]=2026-01-01`)).status !== 200) continue;
    const [latest] = await ids(`/sites/${site}/snapshots?filters[created_at:gte]=2026-01-01`);
    if (latest !== undefined) await get(`/sites/${site}/snapshots/${latest}`);
  }
  expect(sandbox.journal.requests.filter(({ mistake }) => mistake !== undefined)).toEqual([]);
  expect(sandbox.journal.requests.length).toBeGreaterThan(200);
});
