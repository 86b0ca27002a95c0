import { expect, test } from 'vitest';
import { startCalling } from './calling.ts';

test('a new site was never synced, and its address has no slash at its end', async () => {
  const { sandbox, get, post } = await startCalling({ sites: 1 });
  const { id, url } = (await post('/sites', { site: { url: 'https://new.example/' } })).body.site;
  expect(url).toBe('https://new.example');
  const { site } = (await get(`/sites/${id}`)).body;
  expect(site.sync).toMatchObject({ last_sync_at: null, last_sync_status: null, in_progress: false });
  expect(sandbox.journal.effectsOf('createSite')).toEqual([id]);
});

test('an invalid or existing address, and a time of day that does not exist, change nothing', async () => {
  const { sandbox, get, post } = await startCalling({ sites: 1 });
  const known = (await get('/sites/site-0001')).body.site.url;
  expect((await post('/sites', { site: { url: 'new.example' } })).body.error.code).toBe('invalid_url');
  expect((await post('/sites', { site: { url: known } })).body.error.code).toBe('site_exists');
  const site = { url: 'https://other.example', sync: { daily_sync_time: '25:00Z' } };
  expect((await post('/sites/site-0001/update', { site })).status).toBe(422);
  expect(sandbox.journal.effects).toEqual([]);
});

test('a change of the daily sync time moves the next sync, and the answer shows it', async () => {
  const { sandbox, clock, get, post } = await startCalling({ sites: 1 });
  const update = () => post('/sites/site-0001/update', { site: { sync: { daily_sync_time: '13:37Z' } } });
  const { body } = await update();
  expect(body.site.sync).toEqual({ daily_sync_time: '13:37Z' });
  const shown = async () => (await get('/sites/site-0001')).body.site.sync;
  expect((await shown()).next_sync_at).toBe('2026-11-21T13:37:00.000Z');
  await update();
  await clock.advance(97 * 60_000 - 1);
  expect((await shown()).in_progress).toBe(false);
  await clock.advance(1);
  expect(await shown()).toMatchObject({ in_progress: true, next_sync_at: '2026-11-22T13:37:00.000Z' });
  expect(sandbox.journal.effectsOf('updateSite')).toEqual(['site-0001']);
});

test('a deleted site is removed from its client and its tags', async () => {
  const { get, remove } = await startCalling();
  const [tag] = (await get('/tags')).body.tags.filter(({ site_ids }: { site_ids: string[] }) => site_ids[0]);
  const [id] = tag.site_ids;
  const { client } = (await get(`/sites/${id}`)).body.site;
  await remove(`/sites/${id}`);
  expect((await get(`/tags/${tag.id}`)).body.tag.site_ids).not.toContain(id);
  if (client) expect((await get(`/clients/${client.id}`)).body.client.site_ids).not.toContain(id);
});

test('deleting a site deletes its notes, works, log, staging copies and the access of the team', async () => {
  const { sandbox, get, ids, post, remove } = await startCalling();
  const [copy] = (await get('/staging-sites')).body.staging_sites;
  const member = (await get('/team-members')).body.team_members.find(
    ({ site_ids }: { site_ids: string[] }) => site_ids.length > 0,
  );
  const [seen] = member.site_ids;
  await post(`/sites/${seen}/notes`, { note: { content: 'Gone soon' } });
  for (const id of new Set([copy.site_id, seen])) await remove(`/sites/${id}`);

  expect(await ids('/staging-sites')).not.toContain(copy.id);
  expect((await get(`/team-members/${member.id}`)).body.team_member.site_ids).not.toContain(seen);
  expect((await get(`/sites/${seen}/notes`)).status).toBe(404);
  expect(sandbox.journal.effectsOf('deleteSite')).toHaveLength(new Set([copy.site_id, seen]).size);
});

test('effects of clients, team, storage, staging, notes, works and logs are recorded under the requested id', async () => {
  const { sandbox, get, post, remove } = await startCalling();
  const client = (await post('/clients', { client: { company_name: 'New' } })).body.client;
  await post('/clients/delete', { ids: [client.id, 'nobody'] });
  const member = (await post('/team-members', { team_member: { email: 'new@agency.example' } })).body
    .team_member;
  const again = (await post(`/team-members/${member.id}/resend-invitation`)).body.team_member;
  await remove(`/team-members/${again.id}`);
  await post('/backup-destinations/provider_two/test');
  await post('/backup-destinations/provider_two/disconnect');
  await post('/backup-destinations/provider_two/disconnect');
  const note = (await post('/sites/site-0001/notes', { note: { content: 'a' } })).body.note;
  const [paused] = (await get('/staging-sites?filters[status:eq]=paused')).body.staging_sites;
  await post(`/staging-sites/${paused.id}/resume`);
  await post(`/staging-sites/${paused.id}/resume`);
  expect(sandbox.journal.effects.map(({ operation, resource }) => [operation, resource])).toEqual([
    ['createClient', client.id],
    ['deleteClients', client.id],
    ['createTeamMember', member.id],
    ['resendTeamMemberInvitation', member.id],
    ['deleteTeamMember', again.id],
    ['testBackupDestination', 'destination-0002'],
    ['disconnectBackupDestination', 'destination-0002'],
    ['createSiteNote', note.id],
    ['resumeStagingSite', paused.id],
  ]);
});
