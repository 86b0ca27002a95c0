import { expect, test } from 'vitest';
import { startCalling } from './calling.ts';

test('a client is created with its sites, and the sites show it', async () => {
  const { sandbox, get, post } = await startCalling({ sites: 1 });
  const site = (await post('/sites', { site: { url: 'https://new.example' } })).body.site.id;
  const { status, body } = await post('/clients', {
    client: { first_name: 'Noor', last_name: 'Haddad', email: 'noor@haddad.example', site_ids: [site] },
  });
  expect(status).toBe(201);
  expect(body.client).toMatchObject({ first_name: 'Noor', address: '', note: '', site_ids: [site] });
  expect((await get(`/sites/${site}`)).body.site.client).toEqual({
    id: body.client.id,
    first_name: 'Noor',
    last_name: 'Haddad',
    email: 'noor@haddad.example',
    company_name: '',
  });
  expect((await get(`/sites?filters[client_id:eq]=${body.client.id}`)).body.sites).toHaveLength(1);
  expect(sandbox.journal.effectsOf('createClient')).toEqual([body.client.id]);
});

test('a client without a name, with an invalid address, or with sites of another client cannot be created', async () => {
  const { sandbox, get, post } = await startCalling();
  const [taken] = (await get('/clients')).body.clients[0].site_ids;
  const codeOf = async (client: object) => {
    const { status, body } = await post('/clients', { client });
    return [status, body.error.code];
  };
  expect(await codeOf({ email: 'a@b.example' })).toEqual([422, 'client_name_missing']);
  expect(await codeOf({ company_name: 'A', email: 'nobody' })).toEqual([422, 'invalid_email']);
  expect(await codeOf({ company_name: 'A', site_ids: [taken] })).toEqual([422, 'site_of_other_client']);
  expect(await codeOf({ company_name: 'A', site_ids: ['nowhere'] })).toEqual([422, 'site_not_found']);
  expect(sandbox.journal.effects).toEqual([]);
});

test('an update keeps omitted fields, and its sites replace the previous ones', async () => {
  const { sandbox, get, post } = await startCalling();
  const before = (await get('/clients')).body.clients.find(
    ({ site_ids }: { site_ids: string[] }) => site_ids.length > 1,
  );
  const [kept] = before.site_ids;

  const renamed = (await post(`/clients/${before.id}/update`, { client: { note: 'VIP' } })).body.client;
  expect(renamed).toEqual({ ...before, note: 'VIP', updated_at: renamed.updated_at });
  const reduced = (await post(`/clients/${before.id}/update`, { client: { site_ids: [kept] } })).body.client;
  expect(reduced.site_ids).toEqual([kept]);

  expect((await post(`/clients/${before.id}/update`)).body.client).toEqual(reduced);
  expect(sandbox.journal.effectsOf('updateClient')).toEqual([before.id, before.id]);
});

test('clients are deleted one by one: unknown ones are reported, the status is 200, and their sites have no client', async () => {
  const { sandbox, get, post } = await startCalling();
  const [client] = (await get('/clients')).body.clients;
  const { status, body } = await post('/clients/delete', { ids: [client.id, 'nobody'] });
  expect(status).toBe(200);
  expect(body).toEqual({
    delete: { ids: [client.id], errors: [{ id: 'nobody', code: 'not_found', message: expect.any(String) }] },
    meta: { requested: 2, succeeded: 1, failed: 1 },
  });
  expect((await get(`/clients/${client.id}`)).status).toBe(404);
  expect((await get(`/sites/${client.site_ids[0]}`)).body.site.client).toBeNull();
  expect(sandbox.journal.effectsOf('deleteClients')).toEqual([client.id]);
});

test('search covers names, e-mail address and company', async () => {
  const { post, ids } = await startCalling({ sites: 1 });
  const fields = {
    first_name: 'Zoltan',
    last_name: 'Xuereb',
    email: 'zx@mail.example',
    company_name: 'Quill',
  };
  const { id } = (await post('/clients', { client: { ...fields, note: 'Walrus' } })).body.client;
  for (const word of ['zolt', 'XUER', 'zx@', 'quill']) {
    expect([word, await ids(`/clients?filters[search:contains]=${word}`)]).toEqual([word, [id]]);
  }
  expect(await ids('/clients?filters[search:contains]=walrus')).toEqual([]);
  expect(await ids('/clients?filters[last_name:contains]=quill')).toEqual([]);
});
