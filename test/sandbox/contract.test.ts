import { expect, test } from 'vitest';
import { startCalling } from './calling.ts';

test('everything that the generated account shows matches the contract', async () => {
  const { sandbox, get, ids } = await startCalling();
  for (const list of ['clients', 'tags', 'tasks', 'team-members', 'staging-sites', 'backup-destinations'])
    for (const id of await ids(`/${list}`)) await get(`/${list}/${id}`);
  await get('/managed-accounts');
  for (const site of sandbox.siteIds()) {
    await get(`/sites/${site}`);
    await get(`/sites/${site}/activity-logs`);
    for (const id of await ids(`/sites/${site}/custom-works`)) await get(`/sites/${site}/custom-works/${id}`);
    for (const id of await ids(`/sites/${site}/notes`)) await get(`/sites/${site}/notes/${id}/versions`);
    const query = 'perPage=30&filters[created_at:gte]=2026-01-01';
    const [latest] = (await get(`/sites/${site}/snapshots?${query}`)).body.snapshots ?? [];
    if (latest) await get(`/sites/${site}/snapshots/${latest.id}`);
  }
  expect(sandbox.journal.requests.filter(({ mistake }) => mistake !== undefined)).toEqual([]);
  expect(sandbox.journal.requests.length).toBeGreaterThan(200);
});
