import { expect, test } from 'vitest';
import { startCalling } from './calling.ts';

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

test('the sites of an update replace the previous ones, and an update of nothing is no effect', async () => {
  const { sandbox, get, post } = await startCalling();
  const before = (await get('/clients')).body.clients.find(
    ({ site_ids }: { site_ids: string[] }) => site_ids.length > 1,
  );
  const [kept] = before.site_ids;

  const reduced = (await post(`/clients/${before.id}/update`, { client: { site_ids: [kept] } })).body.client;
  expect(reduced.site_ids).toEqual([kept]);

  expect((await post(`/clients/${before.id}/update`)).body.client).toEqual(reduced);
  expect(sandbox.journal.effectsOf('updateClient')).toEqual([before.id]);
});
