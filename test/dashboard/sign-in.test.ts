import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { noAccess } from '../../src/access/access.ts';
import { heldClock } from '../support/held-clock.ts';
import { PASSWORD, postForm, sessionOf, startWorld, type World } from './world.ts';

let world: World;
afterEach(() => world.stop());

const signIn = (password: string, more: Record<string, string> = {}) =>
  postForm(world.ask, world.dashboard.url, '/sign-in', { password, ...more });

test('signing in never redirects to another server', async () => {
  world = await startWorld();
  for (const to of [
    '//evil.example/x',
    'https://evil.example/x',
    '/\\evil.example/x',
    '/..//evil.example/x',
  ]) {
    const location = (await signIn(PASSWORD, { to })).headers.get('location') ?? '';
    expect(new URL(location, world.dashboard.url).origin, to).toBe(world.dashboard.url);
  }
});

test('the session cookie cannot be used by scripts and other sites, and requires https if there is any', async () => {
  world = await startWorld();

  const plain = await signIn(PASSWORD);
  const secure = await world.ask('/sign-in', {
    method: 'POST',
    headers: { origin: `https://${new URL(world.dashboard.url).host}` },
    body: new URLSearchParams({ password: PASSWORD }),
  });

  expect(plain.headers.get('set-cookie')).toMatch(/HttpOnly.*SameSite=Strict/);
  expect(plain.headers.get('set-cookie')).not.toContain('Secure');
  expect(secure.headers.get('set-cookie')).toContain('Secure');
});

/** The cookie of a sign-in, and the header that keeps browsers from coming without TLS. */
async function signInOver(changes: Parameters<typeof startWorld>[0], headers: Record<string, string>) {
  world = await startWorld(changes);
  const body = new URLSearchParams({ password: PASSWORD });
  const from = { origin: world.dashboard.url, ...headers };
  const answer = await world.ask('/sign-in', { method: 'POST', headers: from, body });
  return {
    cookie: answer.headers.get('set-cookie') ?? '',
    hsts: answer.headers.get('strict-transport-security'),
  };
}

test('under TLS no other host and no page without TLS can set the cookie, and browsers stay with TLS', async () => {
  const publicUrl = 'https://ops.example.com';
  const { cookie, hsts } = await signInOver({ publicUrl }, { origin: publicUrl });

  expect(cookie).toMatch(/^__Host-caretaker_session_\d+=.*; Path=\/; HttpOnly; Secure/);
  expect(hsts).toBe('max-age=31536000');
  // Without the scheme in an origin: a GET.
  const inside = await world.ask('/', { headers: { cookie: cookie.split(';')[0] ?? '' } });
  expect(inside.status).toBe(200);
  expect(inside.headers.get('strict-transport-security')).toBeNull();
});

test('under a path the cookie is sent to that path only', async () => {
  const publicUrl = 'https://ops.example.com/caretaker';
  const { cookie } = await signInOver({ publicUrl }, { origin: 'https://ops.example.com' });

  expect(cookie).toMatch(/^__Secure-caretaker_session_\d+=.*; Path=\/caretaker; HttpOnly; Secure/);
});

test('where a proxy says that there is TLS, a cookie that anyone could have set does not count', async () => {
  const access = { ...noAccess, trustedProxies: ['127.0.0.1'] };
  const plain = await signInOver({ access: () => access }, {});
  const name = plain.cookie.split(';')[0] ?? '';
  const withIt = (headers: Record<string, string>) =>
    world.ask('/api/v1/runs', { headers: { cookie: name, ...headers } });

  expect(plain.cookie).toMatch(/^caretaker_session_/);
  expect(plain.hsts).toBeNull();
  expect((await withIt({})).status).toBe(200);
  expect((await withIt({ 'x-forwarded-proto': 'https' })).status).toBe(401);
});

test('a name that has signed in twenty times within a minute has to wait', async () => {
  const clock = heldClock();
  world = await startWorld({ clock });
  for (let count = 0; count < 20; count += 1) expect((await signIn(PASSWORD)).status).toBe(303);

  const further = await signIn(PASSWORD);
  const program = await world.ask('/metrics', { headers: { authorization: `Bearer ${PASSWORD}` } });
  await clock.advance(60_000);

  expect(further.status).toBe(429);
  expect(program.status).toBe(200);
  expect((await signIn(PASSWORD)).status).toBe(303);
});

test('a wrong password is rejected with an error, and each attempt is told to who records it', async () => {
  world = await startWorld();

  const answer = await signIn('open sesame');

  expect(answer.status).toBe(401);
  expect(sessionOf(answer)).toBe('');
  expect(await answer.text()).toContain('Wrong password.');
  expect(world.log.lines.join()).toContain('a sign-in to the dashboard failed');
  expect(world.log.lines.join()).not.toContain('sesame');

  // Each attempt is passed on, without what was sent.
  await signIn(PASSWORD);
  await world.ask('/metrics', { headers: { authorization: 'Bearer guessed' } });

  const address = expect.stringContaining('127.0.0.1');
  expect(world.signIns).toEqual([
    { address, ok: false, why: 'wrong password' },
    { address, ok: true, name: 'admin', principal: expect.objectContaining({ kind: 'user', name: 'admin' }) },
    { address, ok: false, why: 'wrong token or password' },
  ]);
  expect(JSON.stringify(world.signIns)).not.toContain('guessed');
});

test('a change with a bearer token needs no origin, and the cookie of a session does not count then', async () => {
  world = await startWorld();
  const ask = await world.signedIn();

  const right = { authorization: `Bearer ${PASSWORD}` };
  expect((await world.ask('/api/v1/runs', { method: 'POST', headers: right })).status).toBe(405);
  expect((await ask('/api/v1/runs', { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
  expect((await ask('/', { headers: right })).status).toBe(401);
  expect((await ask('/api/v1/runs', { method: 'POST' })).status).toBe(403);
});

test('after ten failed attempts in a minute even the right password has to wait, for pages and programs', async () => {
  const clock = heldClock();
  world = await startWorld({ clock });
  for (let count = 0; count < 10; count += 1) expect((await signIn('wrong')).status).toBe(401);

  const eleventh = await signIn(PASSWORD);
  const program = await world.ask('/metrics', { headers: { authorization: `Bearer ${PASSWORD}` } });
  await clock.advance(60_000);
  const later = await signIn(PASSWORD);

  expect(eleventh.status).toBe(429);
  expect(eleventh.headers.get('retry-after')).toBe('60');
  // The form comes again when the time is over.
  expect(eleventh.headers.get('refresh')).toBe('60; url=/sign-in?to=%2F');
  expect(await eleventh.text()).toMatch(
    /The next one is possible in 60 seconds\..*<button type="submit" disabled/s,
  );
  expect(program.status).toBe(429);
  expect(later.status).toBe(303);
});

test('one session cannot use up the live streams of the others', async () => {
  world = await startWorld();
  const [greedy, other] = [await world.signedIn(), await world.signedIn()];
  const streams = [];
  for (let count = 0; count < 20; count += 1) streams.push(await greedy('/events'));

  const refused = await greedy('/events');
  const [one] = streams;
  const theirs = await other('/events');

  expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
  expect(refused.status).toBe(429);
  expect(await refused.text()).toContain('At most 20 live streams');
  expect(theirs.status).toBe(200);
  await one?.body?.cancel();
  let again = await greedy('/events');
  while (again.status !== 200) again = await greedy('/events');
  for (const { body } of [...streams.slice(1), theirs, again]) await body?.cancel();
});

test('a form on another site cannot act here', async () => {
  world = await startWorld();
  const headers: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: world.dashboard.url, 'sec-fetch-site': 'cross-site' },
    {},
  ];
  for (const sent of headers) {
    const body = new URLSearchParams({ password: PASSWORD });
    const answer = await world.ask('/sign-in', { method: 'POST', headers: sent, body });
    expect(answer.status, JSON.stringify(sent)).toBe(403);
  }
});

test('behind a proxy without TLS that sends a Host of its own, the address of the dashboard is known by public_url', async () => {
  const signIn = (origin: string) => postForm(world.ask, origin, '/sign-in', { password: PASSWORD });
  world = await startWorld({ publicUrl: 'http://caretaker.agency.example' });

  expect((await signIn('http://caretaker.agency.example')).status).toBe(303);
  const refused = await signIn('http://evil.example');
  expect(refused.status).toBe(403);
  expect(await refused.text()).toMatch(
    /The page is from evil\.example, but the request came with the Host 127\.0\.0\.1:\d+\. If evil\.example is this dashboard behind a proxy, set dashboard\.public_url to its address \(now http:\/\/caretaker\.agency\.example\)/,
  );
});

test('a link from another site works: the browser is redirected to send its cookie', async () => {
  world = await startWorld();

  const answer = await world.ask('/runs/a', {
    headers: { accept: 'text/html,*/*', 'sec-fetch-site': 'cross-site' },
  });

  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain('content="0;url=/runs/a"');
});

test('a host name of an attacker that points to this machine gets no response', async () => {
  world = await startWorld();
  const { port } = new URL(world.dashboard.url);
  const statusFor = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      request({ port, host: '127.0.0.1', path: '/healthz', headers: { host } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on('error', reject)
        .end();
    });

  expect(await statusFor(`evil.example:${port}`)).toBe(421);
  expect(await statusFor('127.0.0.1.evil.example')).toBe(421);
  expect(await statusFor('localhost:9999')).toBe(200);
  expect(await statusFor('[::1]')).toBe(200);
});

test('without a password a link signs in one browser, and the next one needs another link from the log', async () => {
  world = await startWorld({ password: null });
  const { signInLink = '', url } = world.dashboard;
  const path = signInLink.slice(url.length);

  const first = await world.ask(path);
  const second = await world.ask(path);
  const inside = await world.ask('/', { headers: { cookie: sessionOf(first) } });
  await postForm(world.ask, url, '/sign-in/link');
  const printed = /http:\S+/.exec(world.log.lines.find((line) => line.includes('Sign in')) ?? '')?.[0] ?? '';
  const third = await world.ask(printed.slice(url.length));

  expect(first.headers.get('location')).toBe('/');
  expect(inside.status).toBe(200);
  expect(second.status).toBe(401);
  expect(printed).not.toBe(signInLink);
  expect(third.headers.get('location')).toBe('/');
});

test('without a password programs are rejected with the reason', async () => {
  world = await startWorld({ password: null });

  const answer = await world.ask('/metrics', { headers: { authorization: 'Bearer ' } });

  expect(answer.status).toBe(401);
  expect(await answer.text()).toContain('none is set (dashboard.password)');
});

test('programs send the password as a bearer token or with HTTP Basic, and only to their own addresses', async () => {
  world = await startWorld();
  const basic = `Basic ${Buffer.from(`prometheus:${PASSWORD}`).toString('base64')}`;
  const bearer = `Bearer ${PASSWORD}`;

  for (const authorization of [basic, bearer]) {
    expect((await world.ask('/metrics', { headers: { authorization } })).status).toBe(200);
    expect((await world.ask('/api/v1/runs', { headers: { authorization } })).status).toBe(200);
    expect((await world.ask('/', { headers: { authorization } })).status).toBe(401);
  }
  expect((await world.ask('/metrics', { headers: { authorization: 'Bearer x' } })).status).toBe(401);
});
