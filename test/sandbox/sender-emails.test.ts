import { expect, test } from 'vitest';
import { startCalling } from './calling.ts';

const HOUR = 3_600_000;

test('the account has verified and pending sender emails, with and without DNS', async () => {
  const { get } = await startCalling({ sites: 1 });
  const { sender_emails } = (await get('/sender-emails?sort=created_at,asc')).body;
  type Shown = { status: string; domain: { dkim: { verified: boolean } } };
  expect(sender_emails.map(({ status, domain }: Shown) => [status, domain.dkim.verified])).toEqual([
    ['verified', true],
    ['verified', false],
    ['pending', true],
    ['pending', false],
  ]);
});

test('an owner named "never" does not confirm, and a domain named "unpublished" has no DNS', async () => {
  const { clock, post } = await startCalling({ sites: 1 });
  const make = async (email: string) => {
    const { body } = await post('/sender-emails', { sender_email: { email } });
    await clock.advance(24 * HOUR);
    return (await post(`/sender-emails/${body.sender_email.id}/refresh`)).body.sender_email;
  };
  expect(await make('never@agency.example')).toMatchObject({ status: 'pending', name: '' });
  const unpublished = await make('kim@unpublished.agency.example');
  expect(unpublished).toMatchObject({ status: 'verified', domain: { dkim: { verified: false } } });
});

test('another verification email does not delay the confirmation', async () => {
  const { clock, post } = await startCalling({ sites: 1 });
  const { id } = (await post('/sender-emails', { sender_email: { email: 'kim@agency.example' } })).body
    .sender_email;
  await clock.advance(9 * 60_000);
  await post(`/sender-emails/${id}/resend-verification`);
  await clock.advance(60_000);
  expect((await post(`/sender-emails/${id}/refresh`)).body.sender_email.status).toBe('verified');
});

test('the return path takes another hostname, which has to be published again', async () => {
  const { clock, sandbox, post } = await startCalling({ sites: 1 });
  const update = (sender_email: object) => post('/sender-emails/sender-0001/update', { sender_email });
  const { body } = await update({ return_path_hostname: 'mail.agency.example' });
  expect(body.sender_email.domain.return_path).toMatchObject({
    hostname: 'mail.agency.example',
    verified: false,
  });
  await clock.advance(HOUR);
  const verified = await post('/sender-emails/sender-0001/verify-return-path');
  expect(verified.body.sender_email.domain.return_path.verified).toBe(true);
  expect((await update({ return_path_hostname: 'not a host' })).body.error.code).toBe('invalid_hostname');
  expect((await update({ return_path: 'mail.agency.example' })).status).toBe(400);
  expect(sandbox.journal.effects.map(({ operation }) => operation)).toEqual([
    'updateSenderEmail',
    'verifySenderEmailReturnPath',
  ]);
});

test('an address can be added once, whatever its case', async () => {
  const { post } = await startCalling({ sites: 1 });
  const { body } = await post('/sender-emails', { sender_email: { email: 'Reports@Agency.example' } });
  expect(body.error.code).toBe('sender_email_exists');
});

test('a sender email that the login screen or a template uses stays', async () => {
  const { post, remove } = await startCalling({ sites: 1 });
  const codeOf = async (id: string) => (await remove(`/sender-emails/${id}`)).body?.error.code;
  expect(await codeOf('sender-0001')).toBe('sender_email_in_use');
  await post('/whitelabel/wp-login/update', { wp_login: { sender_email: { id: 'sender-0002' } } });
  expect(await codeOf('sender-0002')).toBe('sender_email_in_use');
  expect(await codeOf('sender-0003')).toBeUndefined();
});

test('a check without a change is no effect', async () => {
  const { sandbox, post } = await startCalling({ sites: 1 });
  await post('/sender-emails/sender-0001/refresh');
  await post('/sender-emails/sender-0001/verify-dkim');
  expect(sandbox.journal.effects).toEqual([]);
});
