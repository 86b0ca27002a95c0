/** Section 4.2, sentence by sentence. */
import { expect } from 'vitest';
import { unused } from './fixtures.ts';
import { casesOfFile, type Tools } from './harness.ts';
import { listCases, moment } from './list-cases.ts';

const { conform } = casesOfFile('4.2 Clients');
type Named = Record<'first_name' | 'last_name' | 'email' | 'company_name', string>;

listCases(conform, {
  path: '/clients',
  key: 'clients',
  filters: {
    search: {
      operators: ['contains'],
      read: ({ first_name, last_name, email, company_name }: Named) => [
        first_name,
        last_name,
        email,
        company_name,
      ],
    },
    first_name: { operators: ['contains'] },
    last_name: { operators: ['contains'] },
    email: { operators: ['contains'] },
    company_name: { operators: ['contains'] },
    created_at: moment,
    updated_at: moment,
  },
  sorts: ['created_at', 'updated_at', 'first_name', 'last_name', 'email', 'company_name'],
  defaultSort: 'created_at,desc',
  timezone: true,
});

const fields = {
  first_name: 'Conny',
  last_name: 'Formance',
  email: 'conny@conformance.example',
  company_name: 'Conformance Ltd',
  address: '1 Test Street',
  note: 'Goes away again.',
};

async function makeClient({ call, cleanUp }: Tools, more: object = {}) {
  const { status, body } = await call('POST', '/clients', { client: { ...fields, ...more } });
  expect([status, body.error]).toEqual([201, undefined]);
  cleanUp('POST', '/clients/delete', { ids: [body.client.id] });
  return body.client;
}

const unowned = (site: { client: unknown }) => site.client === null;

conform('search matches first name, last name, email and company name, and no other field', async (tools) => {
  for (const field of ['first_name', 'last_name', 'email', 'company_name', 'address', 'note']) {
    const word = unused('word');
    const value = field === 'email' ? `${word}@conformance.example` : `x ${word} y`;
    const { id } = await makeClient(tools, { [field]: value });
    const { body } = await tools.call('GET', `/clients?filters[search:contains]=${word.toUpperCase()}`);
    const found = body.clients.map((client: { id: string }) => client.id);
    expect([field, found]).toEqual([field, field === 'address' || field === 'note' ? [] : [id]]);
  }
});

conform('createClient answers 201 with the client and its sites', async (tools) => {
  const site = await tools.need('/sites', unowned);
  const made = await makeClient(tools, { site_ids: [site.id] });
  expect(made).toMatchObject({ ...fields, site_ids: [site.id] });
  expect((await tools.call('GET', `/clients/${made.id}`)).body.client).toEqual(made);
  const shown = (await tools.call('GET', `/sites/${site.id}`)).body.site.client;
  const { first_name, last_name, email, company_name } = fields;
  expect(shown).toEqual({ id: made.id, first_name, last_name, email, company_name });
  await makeClient(tools, { address: undefined, note: undefined });
});

conform('createClient needs a body (400)', async ({ call }) => {
  expect((await call('POST', '/clients')).status).toBe(400);
  expect((await call('POST', '/clients', fields)).status).toBe(400);
});

conform('sites of another client or of nobody we know make the request fail (422)', async (tools) => {
  const owned = await tools.need('/sites', (site) => site.client !== null);
  const made = await makeClient(tools);
  for (const site of [owned.id, 'nothing-has-this-id']) {
    const client = { ...fields, site_ids: [site] };
    expect((await tools.call('POST', '/clients', { client })).status).toBe(422);
    const update = { client: { note: 'changed', site_ids: [site] } };
    expect((await tools.call('POST', `/clients/${made.id}/update`, update)).status).toBe(422);
  }
  expect((await tools.call('GET', `/clients/${made.id}`)).body.client).toEqual(made);
  expect((await tools.call('GET', `/sites/${owned.id}`)).body.site.client).toEqual(owned.client);
});

conform('updateClient changes what is sent; its body is optional', async (tools) => {
  const made = await makeClient(tools);
  const path = `/clients/${made.id}/update`;
  expect((await tools.call('POST', path)).body.client).toEqual(made);
  const { status, body } = await tools.call('POST', path, { client: { address: '', note: 'New' } });
  const { updated_at } = body.client;
  expect([status, body.client]).toEqual([200, { ...made, address: '', note: 'New', updated_at }]);
  expect((await tools.call('GET', `/clients/${made.id}`)).body).toEqual(body);
});

conform('deleteClients allows partial success, with code not_found', async (tools) => {
  const site = await tools.need('/sites', unowned);
  const made = await makeClient(tools, { site_ids: [site.id] });
  const ids = [made.id, 'nothing-has-this-id'];
  const { status, body } = await tools.call('POST', '/clients/delete', { ids });
  expect([status, body]).toEqual([
    200,
    {
      delete: {
        ids: [made.id],
        errors: [{ id: 'nothing-has-this-id', code: 'not_found', message: expect.any(String) }],
      },
      meta: { requested: 2, succeeded: 1, failed: 1 },
    },
  ]);
  expect((await tools.call('GET', `/clients/${made.id}`)).status).toBe(404);
  expect((await tools.call('GET', `/sites/${site.id}`)).body.site.client).toBeNull();
  expect((await tools.call('POST', '/clients/delete')).status).toBe(400);
});
