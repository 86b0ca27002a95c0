import { expect, test } from 'vitest';
import { startCalling } from './calling.ts';

const DAY = 86_400_000;
const path = '/sites/site-0001/snapshots';

/** A site whose daily snapshots reach back more than nine days from the noon at which the clock stands. */
async function startWithSnapshots() {
  const calling = await startCalling({ sites: 1 });
  const all = calling.sandbox.site('site-0001').state().snapshots;
  const daysAgo = (days: number) => new Date(calling.clock.now() - days * DAY).toISOString();
  /** The ids of all snapshots made between two moments, newest first. */
  const between = (from: string, until: string) =>
    all
      .filter(({ createdAt }) => createdAt >= from && createdAt <= until)
      .map(({ id }) => id)
      .reverse();
  return { ...calling, daysAgo, between };
}

test('a list of snapshots covers the last seven days by default', async () => {
  const { ids, daysAgo, between } = await startWithSnapshots();
  expect(await ids(path)).toEqual(between(daysAgo(7), daysAgo(0)));
  expect(await ids(path)).toHaveLength(7);
});

test('with only a lower bound the list still ends now', async () => {
  const { ids, daysAgo, between } = await startWithSnapshots();
  const listed = await ids(`${path}?filters[created_at:gte]=${daysAgo(9)}`);
  expect(listed).toEqual(between(daysAgo(9), daysAgo(0)));
  expect(listed).toHaveLength(9);
});

test('with only an upper bound the list still begins seven days ago', async () => {
  const { ids, daysAgo, between } = await startWithSnapshots();
  expect(await ids(`${path}?filters[created_at:lte]=${daysAgo(2)}`)).toEqual(between(daysAgo(7), daysAgo(2)));
  expect(await ids(`${path}?filters[created_at:lte]=${daysAgo(8)}`)).toEqual([]);
});

test('with both bounds the list covers the time between them', async () => {
  const { ids, daysAgo, between } = await startWithSnapshots();
  const bounds = `filters[created_at:gte]=${daysAgo(9)}&filters[created_at:lte]=${daysAgo(7.5)}`;
  expect(await ids(`${path}?${bounds}`)).toEqual(between(daysAgo(9), daysAgo(7.5)));
});

test('snapshots are filtered by status and by whether they have a note', async () => {
  const { clock, sandbox, post, ids } = await startWithSnapshots();
  sandbox.site('site-0001').failNextSync('No space left.');
  const failed = (await post('/sites/site-0001/sync', { sync: { message: 'By hand' } })).body.sync
    .snapshot_id;
  await clock.advance(90_000);
  const running = (await post('/sites/site-0001/sync')).body.sync.snapshot_id;

  expect(await ids(`${path}?filters[status:eq]=in_progress`)).toEqual([running]);
  expect(await ids(`${path}?filters[status:eq]=failed`)).toContain(failed);
  expect(await ids(`${path}?filters[note:present]=true`)).toContain(failed);
  expect(await ids(`${path}?filters[note:present]=false`)).not.toContain(failed);
  expect(await ids(`${path}?filters[note:present]=false`)).toContain(running);
});

test('the scan of a hacked site shows in its snapshots from the day it was found', async () => {
  const { get, ids } = await startCalling();
  const [site] = (await get('/sites?filters[scanner_status:eq]=hacked')).body.sites;
  const hacked = await ids(`/sites/${site.id}/snapshots?filters[scanner_status:eq]=hacked`);
  const clean = await ids(`/sites/${site.id}/snapshots?filters[scanner_status:eq]=clean`);
  expect(hacked.length).toBeGreaterThan(0);
  expect(clean.length).toBeGreaterThan(0);
  const { snapshot } = (await get(`/sites/${site.id}/snapshots/${hacked[0]}`)).body;
  expect(snapshot.security.scanner.detections.files).toBeGreaterThan(0);
});

test('the single view of a snapshot has scan counts and measurements, which lists omit', async () => {
  const { get, ids } = await startCalling();
  const [site] = (await get('/sites?filters[performance:eq]=true&filters[connection_status:eq]=connected'))
    .body.sites;
  const [id] = await ids(`/sites/${site.id}/snapshots?filters[status:eq]=succeeded`);
  const { snapshot } = (await get(`/sites/${site.id}/snapshots/${id}`)).body;
  const listed = (await get(`/sites/${site.id}/snapshots`)).body.snapshots[0];
  expect(snapshot.performance.score).toBeGreaterThan(0);
  expect(snapshot.security.scanner.files.total).toBeGreaterThan(0);
  expect(listed.performance).toEqual({ enabled: true });
  expect(listed.security.scanner).not.toHaveProperty('files');
});

test('a site with disabled backups answers 422 until they are enabled', async () => {
  const { get, post } = await startCalling();
  const sites = (await get('/sites?filters[backups:eq]=false')).body.sites as { id: string }[];
  const enabled: number[] = [];
  for (const { id } of sites) {
    expect((await get(`/sites/${id}/snapshots`)).status).toBe(422);
    expect((await get(`/sites/${id}/snapshots/any`)).status).toBe(422);
    enabled.push((await post(`/sites/${id}/backups/enable`)).status);
  }
  // One of the three sites has a plan without backups.
  expect(enabled.sort()).toEqual([200, 200, 422]);
  const { body } = await get('/sites?filters[backups:eq]=false');
  expect(body.sites).toHaveLength(1);
});

test('the number of available snapshots is that of the succeeded ones', async () => {
  const { sandbox, get } = await startCalling({ sites: 40 });
  for (const site of (await get('/sites?filters[backups:eq]=true')).body.sites) {
    const succeeded = sandbox
      .site(site.id)
      .state()
      .snapshots.filter(({ status }) => status === 'succeeded');
    expect([site.id, site.backups.available_snapshots]).toEqual([site.id, succeeded.length]);
  }
});
