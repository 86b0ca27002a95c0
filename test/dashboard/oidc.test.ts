/** Sign-in at a real issuer (oidc-provider), over HTTP, with the redirects of a browser. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Access, noAccess } from '../../src/access/access.ts';
import { heldClock } from '../support/held-clock.ts';
import { Browser, CLIENT, type Issuer, startIssuer } from '../support/oidc-issuer.ts';
import { startWorld, type World } from './world.ts';

let issuer: Issuer;
let world: World;
let access: Access;
let clock: ReturnType<typeof heldClock>;
let browser: Browser;

beforeEach(async () => {
  issuer = await startIssuer();
  access = {
    ...noAccess,
    users: [{ name: 'ana', oidcSubject: 'sub-ana', grants: [{ role: 'viewer' }] }],
    oidc: {
      issuer: issuer.url,
      clientId: CLIENT.id,
      clientSecret: CLIENT.secret,
      scopes: ['openid', 'profile', 'email'],
      claims: [{ claim: 'groups', value: 'ops', grants: [{ role: 'operator' }] }],
    },
  };
  clock = heldClock(Date.now());
  browser = new Browser();
  world = await startWorld({ password: null, access: () => access, clock });
  const { url } = world.dashboard;
  issuer.register(`${url}/sign-in/oidc/callback`, `${url}/sign-in`);
});
afterEach(async () => {
  await world.stop();
  await issuer.stop();
});

const signIn = (sub: string, to = '/runs') =>
  browser.signInAt(`${world.dashboard.url}/sign-in/oidc?to=${encodeURIComponent(to)}`, sub);

test('a person signs in at the issuer and comes to the requested page, as the user with this subject', async () => {
  const { text } = await browser.open(`${world.dashboard.url}/sign-in`);
  expect(text).toContain(`Sign in with ${new URL(issuer.url).host}`);

  const page = await signIn('sub-ana');

  expect(page.url).toBe(`${world.dashboard.url}/runs`);
  expect(page.text).toContain('Signed in as ana');
  expect(world.signIns.map(({ name, ok }) => [name, ok])).toEqual([['ana', true]]);
});

test('groups from the issuer give roles, and somebody without any has no access', async () => {
  issuer.claims.set('sub-ben', { groups: ['ops'], email: 'Ben@Agency.example', email_verified: true });
  expect((await signIn('sub-ben')).text).toContain('Signed in as ben@agency.example');
  const bens = browser;

  browser = new Browser();
  issuer.claims.set('sub-eve', { groups: ['guests'] });
  const refused = await signIn('sub-eve');

  expect(refused.status).toBe(403);
  expect(refused.text).toContain('knows you as sub-eve, but you have no role here');
  expect((await browser.open(`${world.dashboard.url}/api/v1/runs`)).status).toBe(401);
  expect(world.signIns.at(-1)).toMatchObject({ name: 'oidc:sub-eve', ok: false, why: 'no role' });

  // A session ends when its claims no longer give a role by the settings.
  expect((await bens.open(`${world.dashboard.url}/api/v1/runs`)).status).toBe(200);
  access = { ...access, oidc: access.oidc && { ...access.oidc, claims: [] } } as Access;
  expect((await bens.open(`${world.dashboard.url}/api/v1/runs`)).status).toBe(401);
});

test('signing out ends the session here, and leads to the page of the issuer that ends it there', async () => {
  await signIn('sub-ana');
  const [stored] = (await world.records.sessions.of('ana')).values();

  const there = await browser.open(`${world.dashboard.url}/sign-out`, {});

  expect(there.url).toContain(`${issuer.url}/session/end`);
  const [head, claims, signature] = new URL(there.url).searchParams.get('id_token_hint')?.split('.') ?? [];
  for (const part of [head, claims, signature]) {
    expect(part).toMatch(/^[\w-]{20,}$/);
    expect(JSON.stringify(stored)).not.toContain(part);
  }
  expect(there.url).toContain(encodeURIComponent(`${world.dashboard.url}/sign-in`));
  expect((await browser.open(`${world.dashboard.url}/api/v1/runs`)).status).toBe(401);
});

test('an answer of the issuer that is forged, repeated, of another browser or too late signs nobody in', async () => {
  const { url } = world.dashboard;
  const callback = (query: string) => `${url}/sign-in/oidc/callback?${query}`;
  expect((await browser.open(callback('code=x&state=y'))).status).toBe(401);

  // The attacker begins, and sends the victim the end of the way.
  const begun = await fetch(`${url}/sign-in/oidc`, { redirect: 'manual' });
  const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state') ?? '';
  const victim = await browser.open(callback(`code=x&state=${state}`));
  expect(victim).toMatchObject({ status: 401, text: expect.stringContaining('begun in another browser') });

  const own = await fetch(`${url}/sign-in/oidc`, { redirect: 'manual' });
  const cookie = own.headers.get('set-cookie')?.split(';')[0] ?? '';
  const ownState = new URL(own.headers.get('location') ?? '').searchParams.get('state') ?? '';
  const wrongCode = await fetch(callback(`code=x&state=${ownState}&iss=${encodeURIComponent(issuer.url)}`), {
    headers: { cookie },
  });
  expect(wrongCode.status).toBe(502);
  expect(wrongCode.headers.get('set-cookie') ?? '').not.toContain('caretaker_session');
  const again = await fetch(callback(`code=x&state=${ownState}`), { headers: { cookie } });
  expect(await again.text()).toContain('begun in another browser, or too long ago');

  const login = await browser.open(`${url}/sign-in/oidc`);
  await clock.advance(600_000);
  expect((await browser.signInAt(login.url, 'sub-ana')).text).toContain('too long ago');
});

test('an ID token with a wrong signature, or of the future, signs nobody in', async () => {
  issuer.changeToken((claims) => ({ ...claims, groups: ['ops'] }));
  expect((await signIn('sub-eve')).text).toContain('Signed in as oidc:sub-eve');

  browser = new Browser();
  issuer.changeToken((claims) => ({ ...claims, groups: ['ops'] }), true);
  const forged = await signIn('sub-eve');
  browser = new Browser();
  issuer.changeToken((claims) => ({ ...claims, iat: Number(claims['iat']) + 120 }));
  const early = await signIn('sub-ana');

  expect([forged.status, early.status]).toEqual([502, 502]);
  expect(forged.text).toContain('signature');
  expect(early.text).toContain('its id token is of the future');
  expect((await browser.open(`${world.dashboard.url}/api/v1/runs`)).status).toBe(401);
});

test('the way to the issuer has PKCE, a state and a nonce, and the cookie of the state is for the way only', async () => {
  const begun = await fetch(`${world.dashboard.url}/sign-in/oidc`, { redirect: 'manual' });
  const query = new URL(begun.headers.get('location') ?? '').searchParams;

  expect(query.get('code_challenge_method')).toBe('S256');
  for (const name of ['code_challenge', 'state', 'nonce'])
    expect(query.get(name)?.length).toBeGreaterThan(20);
  expect(begun.headers.get('set-cookie')).toMatch(/Path=\/sign-in\/oidc; HttpOnly; SameSite=Lax/);
});

test('somebody who refuses at the issuer gets a sentence, and is not signed in', async () => {
  const login = await browser.open(`${world.dashboard.url}/sign-in/oidc`);
  const refused = await browser.open(`${login.url}/abort`);

  expect(refused.status).toBe(401);
  expect(refused.text).toContain('has not signed you in: End-User aborted interaction');
});

test('an issuer that is down is a page that says so, is not asked before, and again when it is back', async () => {
  expect(issuer.requests()).toBe(0);
  const { port } = new URL(issuer.url);
  access = {
    ...access,
    oidc: access.oidc && { ...access.oidc, issuer: `http://127.0.0.1:1${port.slice(1)}` },
  } as Access;

  const down = await browser.open(`${world.dashboard.url}/sign-in/oidc`);

  expect(down.status).toBe(502);
  expect(down.text).toMatch(/The sign-in service http:\/\/127\.0\.0\.1:\d+ does not answer as it should/);
  expect(down.text).not.toMatch(/\bat .*\.js:/);
  access = { ...access, oidc: access.oidc && { ...access.oidc, issuer: issuer.url } } as Access;
  expect((await signIn('sub-ana')).text).toContain('Signed in as ana');
});
