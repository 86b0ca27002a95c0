/** Section 4.4, and the rows of section 3 for backup destinations. */
import { expect } from 'vitest';
import { casesOfFile, type Tools } from './harness.ts';

const { conform, conformHeld } = casesOfFile('4.4 Backup destinations');
const list = '/backup-destinations';
const providersIn = async ({ call }: Tools) =>
  (await call('GET', list)).body.backup_destinations.map(({ provider }: { provider: string }) => provider);

conform('the list has every usable provider, without pages and parameters', async ({ call }) => {
  const { body } = await call('GET', list);
  expect(Object.keys(body)).toEqual(['backup_destinations']);
  const providers = body.backup_destinations.map(({ provider }: { provider: string }) => provider);
  expect(providers).toContain('provider_one');
  expect(new Set(providers).size).toBe(providers.length);
  // It has no 400.
  expect((await call('GET', `${list}?page=0&filters[a:eq]=1`)).status).toBe(200);
});

conform('an id is that of a saved destination or a provider', async ({ call, need }) => {
  const saved = await need(list, ({ id }) => id !== null);
  for (const id of [saved.id, saved.provider]) {
    const { status, body } = await call('GET', `${list}/${id}`);
    expect([status, body.backup_destination]).toEqual([200, saved]);
  }
  expect((await call('GET', `${list}/provider_three`)).status).toBe(404);
});

conformHeld(
  'a provider without a saved destination is shown, and neither tested nor disconnected',
  async ({ call }) => {
    const { body } = await call('GET', `${list}/provider_one`);
    expect(body.backup_destination).toMatchObject({
      id: null,
      connected: false,
      email: null,
      provider_metadata: {},
      config: {},
    });
    for (const act of ['test', 'disconnect']) {
      expect((await call('POST', `${list}/provider_one/${act}`)).status).toBe(404);
    }
  },
  { seed: 2 },
);

conformHeld('a test that succeeds refreshes status and details', async (tools) => {
  const { call, need, time } = tools;
  const ill = await need(
    list,
    ({ id, connected, status }) => id !== null && connected && status === 'inactive',
  );
  expect(ill.last_error_code).not.toBeNull();
  await time.pass(1000);
  const { status, body } = await call('POST', `${list}/${ill.id}/test`);
  expect(status).toBe(200);
  expect(body.backup_destination).toMatchObject({
    status: 'active',
    connected: true,
    last_error_code: null,
    last_error_message: null,
    last_tested_at: '2026-11-21T12:00:01.000Z',
  });
  expect((await call('GET', `${list}/${ill.provider}`)).body).toEqual(body);
});

conformHeld('a test answers 503 while the provider is down', async ({ call, sandbox }) => {
  const before = (await call('GET', list)).body;
  sandbox().storage.down(true);
  expect((await call('POST', `${list}/provider_two/test`)).status).toBe(503);
  expect((await call('GET', list)).body).toEqual(before);
  sandbox().storage.down(false);
  expect((await call('POST', `${list}/provider_two/test`)).status).toBe(200);
});

conformHeld('disconnect makes it inactive and forgets the account', async ({ call }) => {
  const { status, body } = await call('POST', `${list}/provider_two/disconnect`);
  expect(status).toBe(200);
  expect(body.backup_destination).toMatchObject({
    id: expect.any(String),
    status: 'inactive',
    connected: false,
    email: null,
    provider_account_id: null,
    provider_metadata: {},
    config: {},
    last_tested_at: null,
  });
  expect((await call('POST', `${list}/provider_two/disconnect`)).body).toEqual(body);
  expect((await call('POST', `${list}/provider_two/test`)).status).toBe(422);
});

conformHeld('provider_two shows its folder', async ({ call }) => {
  const { backup_destination } = (await call('GET', `${list}/provider_two`)).body;
  expect(Object.keys(backup_destination.provider_metadata)).toEqual(['folder_id', 'folder_name']);
  expect(Object.keys(backup_destination.config)).toEqual(['folder_policy', 'folder_name']);
});

conformHeld('provider_two is neither listed nor shown while disabled', async (tools) => {
  const { call, sandbox } = tools;
  const { id } = (await call('GET', `${list}/provider_two`)).body.backup_destination;
  sandbox().storage.disable('provider_two', true);
  expect(await providersIn(tools)).toEqual(['provider_one']);
  for (const name of [id, 'provider_two']) expect((await call('GET', `${list}/${name}`)).status).toBe(404);
  sandbox().storage.disable('provider_two', false);
  expect(await providersIn(tools)).toEqual(['provider_one', 'provider_two']);
});
