import { expect, test } from 'vitest';
import { startCalling } from './calling.ts';

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
