import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { type Access, noAccess, type User } from '../../src/access/access.ts';
import { hashToken, newToken } from '../../src/access/credentials.ts';
import { cheapHash } from '../support/cheap-hash.ts';
import { heldClock } from '../support/held-clock.ts';
import { PASSWORD, postForm, sessionOf, startWorld, type World } from './world.ts';

const ANAS = 'correct horse battery';
const ana: User = { name: 'ana', passwordHash: cheapHash(ANAS), grants: [{ role: 'operator' }] };

let world: World;
afterEach(() => world.stop());

const signIn = (name: string, password: string) =>
  postForm(world.ask, world.dashboard.url, '/sign-in', { name, password });

/** Sends the sign-in form from one of the addresses of this machine. */
function statusFrom(localAddress: string, fields: Record<string, string>): Promise<number | undefined> {
  const { origin, port } = new URL(world.dashboard.url);
  return new Promise((resolve, reject) => {
    const headers = { origin, 'content-type': 'application/x-www-form-urlencoded' };
    const options = { host: '127.0.0.1', port, localAddress, path: '/sign-in', method: 'POST', headers };
    request(options, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on('error', reject)
      .end(new URLSearchParams(fields).toString());
  });
}

test('a user signs in with name and password, and the single password of the dashboard works beside it', async () => {
  world = await startWorld({ access: () => ({ ...noAccess, users: [ana] }) });

  expect((await signIn('ana', ANAS)).status).toBe(303);
  expect((await signIn('', PASSWORD)).status).toBe(303);
  expect((await signIn('admin', PASSWORD)).status).toBe(303);
  const wrong = [await signIn('ana', PASSWORD), await signIn('ben', ANAS), await signIn('', ANAS)];
  for (const answer of wrong) {
    expect(answer.status).toBe(401);
    expect(await answer.text()).toContain('Wrong name or password.');
  }
  expect(world.signIns.map(({ name, ok, principal }) => [name, ok, principal?.name])).toEqual([
    ['ana', true, 'ana'],
    ['admin', true, 'admin'],
    ['admin', true, 'admin'],
    ['ana', false, undefined],
    ['ben', false, undefined],
    [undefined, false, undefined],
  ]);
});

test('a password of a user is none for programs', async () => {
  world = await startWorld({ access: () => ({ ...noAccess, users: [ana] }) });
  const basic = `Basic ${Buffer.from(`ana:${ANAS}`).toString('base64')}`;

  for (const authorization of [basic, `Bearer ${ANAS}`])
    expect((await world.ask('/api/v1/runs', { headers: { authorization } })).status).toBe(401);
});

test('a session ends when its user is removed from the settings, and its roles follow them', async () => {
  let access: Access = { ...noAccess, users: [ana] };
  world = await startWorld({ access: () => access });
  const cookie = sessionOf(await signIn('ana', ANAS));
  const statusOf = async (path: string) => (await world.ask(path, { headers: { cookie } })).status;

  expect(await statusOf('/system')).toBe(200);
  access = { ...access, users: [{ ...ana, grants: [{ role: 'viewer', policies: ['nightly-sync'] }] }] };
  expect(await statusOf('/system')).toBe(403);
  expect(await statusOf('/api/v1/runs')).toBe(200);
  access = noAccess;
  expect(await statusOf('/api/v1/runs')).toBe(401);
});

test('with users and without a password, no link signs anybody in, and other machines may be served', async () => {
  world = await startWorld({
    host: '0.0.0.0',
    password: null,
    access: () => ({ ...noAccess, users: [ana] }),
  });

  expect(world.dashboard.signInLink).toBeUndefined();
  expect(await (await world.ask('/sign-in')).text()).not.toContain('/sign-in/link');
  expect((await signIn('ana', ANAS)).status).toBe(303);
  expect((await signIn('', '')).status).toBe(401);
});

test('a token admits its program to the addresses of programs, even while attempts are slowed down', async () => {
  const token = newToken();
  const ci = { name: 'ci', hash: hashToken(token), grants: [{ role: 'viewer' as const }] };
  world = await startWorld({ access: () => ({ ...noAccess, tokens: [ci] }) });
  const bearer = { authorization: `Bearer ${token}` };
  const basic = { authorization: `Basic ${Buffer.from(`any:${token}`).toString('base64')}` };

  for (const headers of [bearer, basic]) {
    expect((await world.ask('/api/v1/runs', { headers })).status).toBe(200);
    expect((await world.ask('/metrics', { headers })).status).toBe(200);
    expect((await world.ask('/', { headers })).status).toBe(401);
  }
  const wrong = { authorization: `Bearer ${newToken()}` };
  for (let count = 0; count < 10; count += 1) await world.ask('/metrics', { headers: wrong });
  expect((await world.ask('/metrics', { headers: wrong })).status).toBe(429);
  expect((await world.ask('/metrics', { headers: bearer })).status).toBe(200);
});

test('90 wrong passwords from 30 addresses: at most 40 are checked, and the right one is accepted elsewhere', async () => {
  const clock = heldClock();
  world = await startWorld({ clock, access: () => ({ ...noAccess, users: [ana] }) });
  const guesses = Array.from({ length: 90 }, (_, at) =>
    statusFrom(`127.0.1.${(at % 30) + 1}`, { name: 'ana', password: `wrong ${at}` }),
  );
  const owner = statusFrom('127.0.0.1', { name: 'ana', password: ANAS });

  const statuses = await Promise.all(guesses);
  const checked = statuses.filter((status) => status === 401).length;

  expect(checked).toBeGreaterThan(0);
  expect(checked).toBeLessThanOrEqual(40);
  // What is too much at the same time is refused without a check, and does not count as failed.
  expect([303, 503]).toContain(await owner);
  expect(await statusFrom('127.0.0.1', { name: 'ana', password: ANAS })).toBe(303);
  expect(await statusFrom('127.0.1.1', { name: 'ana', password: ANAS })).toBe(429);
  await clock.advance(60_000);
  expect(await statusFrom('127.0.1.1', { name: 'ana', password: ANAS })).toBe(303);
});

/** Requests with headers as a proxy, or somebody else, would send them. */
const attemptVia = (headers: Record<string, string>) =>
  world.ask('/sign-in', {
    method: 'POST',
    headers: { origin: world.dashboard.url, ...headers },
    body: new URLSearchParams({ password: 'wrong' }),
  });

test('headers of a proxy that is not named are ignored', async () => {
  world = await startWorld();
  for (let at = 0; at < 10; at += 1)
    expect((await attemptVia({ 'x-forwarded-for': `198.51.100.${at}` })).status).toBe(401);

  expect(
    (await attemptVia({ 'x-forwarded-for': '198.51.100.99', forwarded: 'for=198.51.100.98' })).status,
  ).toBe(429);
  expect(new Set(world.signIns.map(({ address }) => address))).toEqual(new Set(['127.0.0.1']));
});

test('behind named proxies the address is the last one that no proxy of ours has, whatever the caller sent', async () => {
  const access = { ...noAccess, trustedProxies: ['127.0.0.0/8', '10.1.0.0/16'] };
  world = await startWorld({ access: () => access });
  const addressFor = async (forwarded: string) => {
    await attemptVia({ 'x-forwarded-for': forwarded });
    return world.signIns.at(-1)?.address;
  };

  expect(await addressFor('198.51.100.1')).toBe('198.51.100.1');
  expect(await addressFor('203.0.113.5, 198.51.100.2')).toBe('198.51.100.2');
  expect(await addressFor('203.0.113.5, 198.51.100.3, 10.1.2.3')).toBe('198.51.100.3');
  expect(await addressFor('203.0.113.5, 2001:db8::7, 10.1.2.3')).toBe('2001:db8::7');
  expect(await addressFor('198.51.100.4:51234')).toBe('198.51.100.4');
  expect(await addressFor('<script>')).toBe('127.0.0.1');
  expect(await addressFor('203.0.113.5, unknown, 10.1.2.3')).toBe('10.1.2.3');
});

test('only a named proxy can say that the browser uses https', async () => {
  let access = noAccess;
  world = await startWorld({ access: () => access });
  const cookieFor = async (proto: string) => {
    const headers = { origin: world.dashboard.url, 'x-forwarded-proto': proto };
    const body = new URLSearchParams({ password: PASSWORD });
    return (await world.ask('/sign-in', { method: 'POST', headers, body })).headers.get('set-cookie');
  };

  expect(await cookieFor('https')).not.toContain('Secure');
  access = { ...noAccess, trustedProxies: ['127.0.0.1'] };
  expect(await cookieFor('https')).toContain('Secure');
  expect(await cookieFor('http')).not.toContain('Secure');
  expect(await cookieFor('https, http')).not.toContain('Secure');
});
