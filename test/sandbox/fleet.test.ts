import { expect, test } from 'vitest';
import { everythingIn, startCalling } from './calling.ts';

test('the same seed and number of sites give the same world, another seed a different one', async () => {
  const worldOf = async (seed: number) => everythingIn(await startCalling({ sites: 60, seed }));
  const world = await worldOf(1);
  expect(await worldOf(1)).toEqual(world);
  expect(await worldOf(2)).not.toEqual(world);
});

test('the fleet of sixty has sites of every kind, and most of them can be synced', async () => {
  const { sandbox, clock, get, post } = await startCalling();
  const count = async (filter: string) =>
    (await get(`/sites?perPage=1&filters[${filter}`)).body.meta.pagination.totalItems;

  expect(await count('connection_status:eq]=disconnected')).toBe(3);
  expect(await count('paused:eq]=true')).toBe(2);
  expect(await count('locked:eq]=true')).toBe(2);
  expect(await count('scanner_status:eq]=hacked')).toBe(2);
  expect(await count('backups:eq]=false')).toBe(3);
  expect(await count('php_version:lt]=8.1')).toBe(6);

  const refusals: Record<string, number> = {};
  for (const id of sandbox.siteIds()) {
    const { body } = await post(`/sites/${id}/sync`);
    const answer = body.error?.code ?? 'started';
    refusals[answer] = (refusals[answer] ?? 0) + 1;
  }
  expect(refusals).toEqual({
    started: 50,
    site_disconnected: 3,
    site_locked: 2,
    daily_sync_limit_reached: 2,
    site_under_maintenance: 3,
  });

  await clock.advance(90_000);
  const ended = sandbox.siteIds().map((id) => sandbox.site(id).state());
  expect(ended.filter(({ lastSyncAt }) => (lastSyncAt ?? '') > '2026-11-21T12:00:19').length).toBe(50);
  // Two fail again, and two that have used up their syncs of the day failed before.
  expect(ended.filter(({ lastSyncError }) => lastSyncError !== null)).toHaveLength(4);
  expect(ended.some(({ syncInProgress }) => syncInProgress)).toBe(false);
});

test('maintenance lasts for hours and then is over', async () => {
  const { sandbox, clock } = await startCalling();
  const count = () => sandbox.siteIds().filter((id) => sandbox.site(id).state().underMaintenance).length;
  expect(count()).toBe(3);
  await clock.advance(2.9 * 3_600_000);
  expect(count()).toBe(3);
  await clock.advance(7 * 3_600_000);
  expect(count()).toBe(0);
});

test('syncs of the fleet take twenty to ninety seconds, each site its own time', async () => {
  const { sandbox, clock } = await startCalling({ sites: 19 });
  for (const id of sandbox.siteIds()) sandbox.site(id).startSync();
  const running = () => sandbox.siteIds().filter((id) => sandbox.site(id).state().syncInProgress).length;
  await clock.advance(19_999);
  expect(running()).toBe(19);
  await clock.advance(35_000);
  expect(running()).toBeGreaterThan(0);
  expect(running()).toBeLessThan(19);
  await clock.advance(35_001);
  expect(running()).toBe(0);
});
