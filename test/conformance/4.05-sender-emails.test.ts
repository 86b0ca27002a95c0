/** Section 4.5 and the sender email rows of section 3. */
import { expect } from 'vitest';
import { unused } from './fixtures.ts';
import { casesOfFile, HOUR, MINUTE, type Tools } from './harness.ts';
import { flag, listCases, moment } from './list-cases.ts';

const { conform, conformHeld } = casesOfFile('4.5 Sender emails');
listCases(conform, {
  path: '/sender-emails',
  key: 'sender_emails',
  filters: {
    email: { operators: ['contains'] },
    name: { operators: ['contains'] },
    status: { operators: ['eq'], wrong: 'unknown', try: ['pending', 'verified'] },
    domain_dkim_verified: flag(({ domain }) => domain.dkim.verified),
    domain_return_path_verified: flag(({ domain }) => domain.return_path.verified),
    created_at: moment,
    updated_at: moment,
  },
  sorts: ['email', 'name', 'status', 'created_at', 'updated_at'],
  defaultSort: 'created_at,desc',
  timezone: true,
});

async function makeSender({ call, cleanUp }: Tools, email = `${unused('sender')}@conformance.example`) {
  const { status, body } = await call('POST', '/sender-emails', { sender_email: { email, name: 'Reports' } });
  expect(status).toBe(201);
  cleanUp('DELETE', `/sender-emails/${body.sender_email.id}`);
  return body.sender_email;
}

/** A sender email whose owner has confirmed it. */
async function makeVerified(tools: Tools) {
  const { id } = await makeSender(tools);
  await tools.time.pass(HOUR);
  const { body } = await tools.call('POST', `/sender-emails/${id}/refresh`);
  expect(body.sender_email.status).toBe('verified');
  return body.sender_email;
}

conform('createSenderEmail answers 201, pending, with the DNS details', async (tools) => {
  const made = await makeSender(tools);
  expect(made).toMatchObject({ name: 'Reports', status: 'pending' });
  for (const record of [made.domain.dkim, made.domain.return_path]) {
    expect(record).toEqual({
      hostname: expect.stringMatching(/./),
      value: expect.stringMatching(/./),
      verified: false,
    });
  }
  expect((await tools.call('GET', `/sender-emails/${made.id}`)).body.sender_email).toEqual(made);
});

conform('createSenderEmail needs a body (400) with an email (422)', async ({ call }) => {
  expect((await call('POST', '/sender-emails')).status).toBe(400);
  expect((await call('POST', '/sender-emails', { email: 'a@b.example' })).status).toBe(400);
  const wrong = await call('POST', '/sender-emails', { sender_email: { email: 'nobody', name: 'x' } });
  expect(wrong.status).toBe(422);
});

conform('deleteSenderEmail answers 204 and the sender email is gone', async (tools) => {
  const path = `/sender-emails/${(await makeSender(tools)).id}`;
  expect((await tools.call('DELETE', path)).status).toBe(204);
  expect((await tools.call('GET', path)).status).toBe(404);
  expect((await tools.call('DELETE', path)).status).toBe(404);
});

conform('updateSenderEmail changes the name and leaves the rest', async (tools) => {
  const made = await makeSender(tools);
  const path = `/sender-emails/${made.id}/update`;
  const { status, body } = await tools.call('POST', path, { sender_email: { name: 'Another name' } });
  expect(status).toBe(200);
  expect(body.sender_email).toEqual({
    ...made,
    name: 'Another name',
    updated_at: body.sender_email.updated_at,
  });
  expect((await tools.call('GET', `/sender-emails/${made.id}`)).body).toEqual(body);
  expect((await tools.call('POST', path)).status).toBe(400);
});

conform('resend applies to status pending, and not to verified (422)', async (tools) => {
  const made = await makeSender(tools);
  const { status, body } = await tools.call('POST', `/sender-emails/${made.id}/resend-verification`);
  expect([status, body.sender_email.id, body.sender_email.status]).toEqual([200, made.id, 'pending']);
  const { id } = await tools.need('/sender-emails?filters[status:eq]=verified');
  expect((await tools.call('POST', `/sender-emails/${id}/resend-verification`)).status).toBe(422);
});

conform('DNS actions do not apply to status pending (422)', async (tools) => {
  const { id } = await makeSender(tools);
  for (const action of ['rotate-dkim', 'verify-dkim', 'verify-return-path']) {
    const { status } = await tools.call('POST', `/sender-emails/${id}/${action}`);
    expect([action, status]).toEqual([action, 422]);
  }
});

conform('3 Sender email: refresh leaves pending what the owner has not confirmed', async (tools) => {
  const { id } = await makeSender(tools);
  const { status, body } = await tools.call('POST', `/sender-emails/${id}/refresh`);
  expect([status, body.sender_email.status]).toEqual([200, 'pending']);
});

conformHeld('3 Sender email: refresh makes verified what the owner has confirmed, DNS too', async (tools) => {
  const made = await makeSender(tools);
  await tools.time.pass(HOUR);
  expect((await tools.call('GET', `/sender-emails/${made.id}`)).body.sender_email.status).toBe('pending');
  const { body } = await tools.call('POST', `/sender-emails/${made.id}/refresh`);
  expect(body.sender_email).toMatchObject({
    status: 'verified',
    domain: { dkim: { verified: true }, return_path: { verified: true } },
  });
  expect((await tools.call('GET', `/sender-emails/${made.id}`)).body).toEqual(body);
});

conformHeld(
  '3 Sender email: rotate gives new DKIM details, not verified until they are published',
  async (tools) => {
    const before = await makeVerified(tools);
    const { body } = await tools.call('POST', `/sender-emails/${before.id}/rotate-dkim`);
    const { dkim } = body.sender_email.domain;
    expect(body.sender_email.status).toBe('verified');
    expect(dkim.verified).toBe(false);
    expect([dkim.hostname, dkim.value]).not.toEqual([before.domain.dkim.hostname, before.domain.dkim.value]);
    expect(body.sender_email.domain.return_path).toEqual(before.domain.return_path);

    const verify = async () => (await tools.call('POST', `/sender-emails/${before.id}/verify-dkim`)).body;
    expect((await verify()).sender_email.domain.dkim).toEqual(dkim);
    await tools.time.pass(HOUR);
    expect((await verify()).sender_email.domain.dkim).toEqual({ ...dkim, verified: true });
  },
);

conformHeld(
  '3 Sender email: verify DKIM and return path stay false while nothing is published',
  async (tools) => {
    const { id } = await makeSender(tools);
    await tools.time.pass(15 * MINUTE);
    const { body } = await tools.call('POST', `/sender-emails/${id}/refresh`);
    expect(body.sender_email.status).toBe('verified');
    for (const [action, name] of [
      ['verify-dkim', 'dkim'],
      ['verify-return-path', 'return_path'],
    ] as const) {
      const verify = async () =>
        (await tools.call('POST', `/sender-emails/${id}/${action}`)).body.sender_email;
      expect((await verify()).domain[name].verified).toBe(false);
    }
    await tools.time.pass(HOUR);
    const dkim = await tools.call('POST', `/sender-emails/${id}/verify-dkim`);
    expect(dkim.body.sender_email.domain).toMatchObject({
      dkim: { verified: true },
      return_path: { verified: false },
    });
    const path = await tools.call('POST', `/sender-emails/${id}/verify-return-path`);
    expect(path.body.sender_email.domain.return_path.verified).toBe(true);
  },
);
