/** Section 4.20. */
import { expect } from 'vitest';
import { withSnapshot } from './fixtures.ts';
import { casesOfFile, type Json, MINUTE, type Tools } from './harness.ts';

const { conform, conformHeld } = casesOfFile('4.20 Backups');
const scope = { include_files: true, include_database: true };
const bodies = {
  download: { download: { scope } },
  upload: { upload: { destination: { provider: 'provider_one' }, scope } },
  migrate: { migration: { type: 'internal', site_id: 'site-0003', scope } },
} as const;
type Act = keyof typeof bodies;
const acts = Object.keys(bodies) as Act[];

/** A complete snapshot of a site, and a function that starts something with it. */
async function startable(tools: Tools, suits?: (site: Json) => boolean) {
  const { site, snapshot } = await withSnapshot(tools, suits);
  const start = (act: Act, body: unknown = bodies[act], id = snapshot.id) =>
    tools.call('POST', `/sites/${site.id}/backups/${id}/${act}`, body);
  return { site, start };
}

conformHeld('each start answers 201 with an initializing task of its type', async (tools) => {
  const { start } = await startable(tools);
  for (const act of acts) {
    const { status, body } = await start(act);
    expect([act, status, body.task.status]).toEqual([act, 201, 'initializing']);
    const { task } = (await tools.call('GET', `/tasks/${body.task.id}`)).body;
    expect(task.type).toBe(act);
    await tools.time.pass(10 * MINUTE);
    expect((await tools.call('GET', `/tasks/${body.task.id}`)).body.task.status).toBe('completed');
  }
});

conformHeld('409 while another start or change of the configuration is running', async (tools) => {
  const { site, start } = await startable(tools, (one) => 'activity_logs' in one);
  expect((await start('download')).status).toBe(201);
  for (const act of acts) expect([act, (await start(act)).status]).toEqual([act, 409]);
  await tools.time.pass(10 * MINUTE);
  const act = site.activity_logs.enabled ? 'disable' : 'enable';
  expect((await tools.call('POST', `/sites/${site.id}/activity-logs/${act}`)).status).toBe(200);
  expect((await start('upload')).status).toBe(409);
  await tools.time.pass(MINUTE);
  expect((await start('upload')).status).toBe(201);
});

conformHeld('the snapshot must be complete', async (tools) => {
  const { site, start } = await startable(tools);
  const { snapshot_id } = (await tools.call('POST', `/sites/${site.id}/sync`)).body.sync;
  for (const act of acts) {
    expect((await start(act, bodies[act], snapshot_id)).status).toBe(422);
    expect((await start(act, bodies[act], 'unknown-one')).status).toBe(404);
  }
});

conform('the body is required, wrapped, and holds nothing unknown', async (tools) => {
  const { start } = await startable(tools);
  expect((await start('download', '')).status).toBe(400);
  expect((await start('download', { scope })).status).toBe(400);
  expect((await start('download', { download: {} })).status).toBe(400);
  expect((await start('download', { download: { scope, speed: 'fast' } })).status).toBe(400);
  expect((await start('upload', { upload: { scope } })).status).toBe(400);
});

conform('paths go with files, tables with the database, until with real-time events', async (tools) => {
  const { start } = await startable(tools);
  const download = async (more: object, options?: object) =>
    (await start('download', { download: { scope: more, ...(options && { options }) } })).status;
  expect(await download({ include_database: true, paths: ['a'] })).toBe(422);
  expect(await download({ include_files: true, tables: ['a'] })).toBe(422);
  expect(await download({ include_files: false })).toBe(422);
  expect(await download(scope, { real_time_events: { enabled: true } })).toBe(422);
  expect(
    await download({
      include_files: true,
      paths: ['wp-content'],
      include_database: true,
      tables: ['posts'],
    }),
  ).toBe(201);
});

conformHeld('real-time events reach from the snapshot to now, where there are any', async (tools) => {
  const events = (until: string) => ({
    download: { scope, options: { real_time_events: { enabled: true, until } } },
  });
  const live = await startable(tools, ({ backups }) => backups.real_time);
  expect((await live.start('download', events('2026-11-21T13:00:00Z'))).status).toBe(422);
  expect((await live.start('download', events('2020-11-21T13:00:00Z'))).status).toBe(422);
  expect((await live.start('download', events('2026-11-21T12:00:00Z'))).status).toBe(201);
  const daily = await startable(tools, ({ backups }) => !backups.real_time);
  expect((await daily.start('download', events('2026-11-21T12:00:00Z'))).status).toBe(422);
});

conformHeld(
  'an upload goes to provider_one without an id, to provider_two with that of its destination',
  async (tools) => {
    const { start } = await startable(tools);
    const { id } = (await tools.call('GET', '/backup-destinations/provider_two')).body.backup_destination;
    const upload = async (destination: object) => {
      const { status } = await start('upload', { upload: { destination, scope } });
      await tools.time.pass(10 * MINUTE);
      return status;
    };
    expect(await upload({ provider: 'provider_one' })).toBe(201);
    expect(await upload({ provider: 'provider_one', id })).toBe(422);
    expect(await upload({ provider: 'provider_two' })).toBe(422);
    expect(await upload({ provider: 'provider_two', id: 'destination-9999' })).toBe(422);
    expect(await upload({ provider: 'provider_two', id })).toBe(201);
    expect(await upload({ provider: 'provider_three' })).toBe(422);
    await tools.call('POST', `/backup-destinations/${id}/disconnect`);
    expect(await upload({ provider: 'provider_two', id })).toBe(422);
  },
);

conformHeld('a migration goes to another site, or elsewhere by FTP with all credentials', async (tools) => {
  const { site, start } = await startable(tools);
  const account = { host: 'h.example', username: 'u', password: 'p' };
  const migrate = async (migration: object) => {
    const { status } = await start('migrate', { migration: { scope, ...migration } });
    await tools.time.pass(10 * MINUTE);
    return status;
  };
  const other = { type: 'internal', site_id: 'site-0003' };
  expect(await migrate(other)).toBe(201);
  expect(
    await migrate({
      ...other,
      connection: { method: 'http', http_auth: { username: 'a', password: 'b' } },
    }),
  ).toBe(201);
  expect(await migrate({ ...other, connection: { method: 'ftp' } })).toBe(422);
  expect(await migrate({ type: 'internal', site_id: site.id })).toBe(422);
  expect(await migrate({ type: 'internal', site_id: 'unknown-one' })).toBe(404);
  const ftp = { method: 'ftp', server: account, database: { ...account, name: 'd' } };
  expect(await migrate({ type: 'external', connection: ftp })).toBe(201);
  expect(await migrate({ type: 'external', connection: { ...ftp, method: 'http' } })).toBe(422);
  expect(await migrate({ type: 'external', connection: { method: 'ftp', server: account } })).toBe(422);
  expect(await migrate({ type: 'external', connection: { method: 'ftp', database: account } })).toBe(422);
  expect(await migrate({ type: 'external' })).toBe(422);
  expect(await migrate({ type: 'sideways' })).toBe(422);
});

conform('a site without backups has nothing to start from', async ({ call, need }) => {
  await need('/sites?filters[backups:eq]=false');
  for (const { id } of (await call('GET', '/sites?filters[backups:eq]=false')).body.sites) {
    for (const act of acts) {
      expect((await call('POST', `/sites/${id}/backups/any/${act}`, bodies[act])).status).toBe(422);
    }
  }
});
