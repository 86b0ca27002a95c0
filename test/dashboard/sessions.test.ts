/** Sessions of people: how long they last, and that they are the same for all dashboards of a Redis. */
import { Redis } from 'ioredis';
import { afterEach, expect, test } from 'vitest';
import { type Access, noAccess } from '../../src/access/access.ts';
import { browserIn } from '../../src/dashboard/auth/client-address.ts';
import { MAX_SESSIONS } from '../../src/records/session-store.ts';
import { heldClock } from '../support/held-clock.ts';
import {
  auditOf,
  openEvents,
  PASSWORD,
  postForm,
  sessionOf,
  startWorld,
  textOf,
  usersOf,
  type World,
} from './world.ts';

const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0).reverse()) await world.stop();
});
const start = async (changes: Parameters<typeof startWorld>[0] = {}): Promise<World> => {
  const world = await startWorld(changes);
  worlds.push(world);
  return world;
};

const HOUR = 3_600_000;
const users = usersOf({ ana: [{ role: 'operator' }], ben: [{ role: 'operator' }] });
const signIn = (world: World, name = '') =>
  postForm(world.ask, world.dashboard.url, '/sign-in', { name, password: PASSWORD });

/** Requests with a session, at the dashboard that gave it or at another one, whose cookies have its port in their name. */
const withSession = (world: World, cookie: string) => {
  const own = cookie.replace(/_\d+=/, `_${new URL(world.dashboard.url).port}=`);
  return (path: string, init: RequestInit = {}) =>
    world.ask(path, { ...init, headers: { ...init.headers, cookie: own } });
};

/** The status of an address that a person, or the script of a page, asks for. */
async function visit(world: World, cookie: string, path = '/api/v1/runs', accept = 'text/html,*/*') {
  const answer = await world.ask(path, { headers: { cookie, accept } });
  await answer.body?.cancel();
  return answer.status;
}

test('a session ends when it was not used for twelve hours, and seven days after its sign-in in any case', async () => {
  const clock = heldClock();
  const world = await start({ clock });
  const [used, idle] = [sessionOf(await signIn(world)), sessionOf(await signIn(world))];

  await clock.advance(12 * HOUR - 1);
  expect(await visit(world, used)).toBe(200);
  await clock.advance(1);
  expect(await visit(world, idle)).toBe(401);
  for (let half = 2; half < 14; half += 1) {
    await clock.advance(12 * HOUR - 2);
    expect(await visit(world, used), `half day ${half}`).toBe(200);
  }
  await clock.advance(12 * HOUR);
  expect(await visit(world, used)).toBe(401);
});

test('what the script of an open page asks is no use of the session', async () => {
  const clock = heldClock();
  const world = await start({ clock });
  const cookie = sessionOf(await signIn(world));

  await clock.advance(11 * HOUR);
  const polled = [await visit(world, cookie, '/', 'text/html'), await visit(world, cookie, '/events')];
  await clock.advance(HOUR);

  expect(polled).toEqual([200, 200]);
  expect(await visit(world, cookie)).toBe(401);
});

test('the ends of sessions follow the settings at once', async () => {
  const clock = heldClock();
  let access: Access = noAccess;
  const world = await start({ clock, access: () => access });
  const ask = await world.signedIn();

  await clock.advance(HOUR);
  access = { ...noAccess, sessions: { idleMs: 7 * 86_400_000, maxMs: HOUR } };
  expect((await ask('/api/v1/runs')).status).toBe(401);
  access = { ...noAccess, sessions: { idleMs: HOUR, maxMs: 7 * 86_400_000 } };
  expect((await ask('/api/v1/runs')).status).toBe(401);
});

test('a restart signs nobody out, and all dashboards of a Redis share their sessions', async () => {
  const first = await start({ access: () => users });
  const cookie = sessionOf(await signIn(first, 'ana'));
  const second = await start({ beside: first, access: () => users });
  const third = await start({ beside: first });

  const page = await withSession(second, cookie)('/');
  const removed = await withSession(third, cookie)('/api/v1/runs');

  expect(textOf(await page.text())).toContain('Signed in as ana');
  // This one does not know the user (any more).
  expect(removed.status).toBe(401);
});

test('a session that began with the single password, or a link, ends with them', async () => {
  const first = await start();
  const cookie = sessionOf(await signIn(first));
  const same = await start({ beside: first });
  const changed = await start({ beside: first, password: 'another password' });
  const without = await start({ beside: first, password: null });
  const byLink = sessionOf(
    await without.ask((without.dashboard.signInLink ?? '').slice(without.dashboard.url.length)),
  );
  const withUsers = await start({
    beside: first,
    password: null,
    access: () => users,
  });
  const statusAt = async (world: World, sent: string) =>
    (await withSession(world, sent)('/api/v1/runs')).status;

  expect(await statusAt(same, cookie)).toBe(200);
  expect(await statusAt(changed, cookie)).toBe(401);
  expect(await statusAt(without, cookie)).toBe(401);
  expect(await statusAt(without, byLink)).toBe(200);
  expect(await statusAt(withUsers, byLink)).toBe(401);
});

test('after sign-out the session is invalid, here at once and at another dashboard within five seconds', async () => {
  const clock = heldClock();
  const first = await start({ clock });
  const second = await start({ beside: first, clock });
  const cookie = sessionOf(await signIn(first));
  const [here, there] = [withSession(first, cookie), withSession(second, cookie)];
  expect((await there('/api/v1/runs')).status).toBe(200);

  const answer = await postForm(here, first.dashboard.url, '/sign-out');

  expect(answer.headers.get('location')).toBe('/sign-in');
  expect((await here('/api/v1/runs')).status).toBe(401);
  await clock.advance(5_000);
  expect((await there('/api/v1/runs')).status).toBe(401);
});

test('Redis has the hash of the id alone, a session is written once a minute at most, and each has an end', async () => {
  const clock = heldClock();
  const world = await start({ clock });
  const cookie = sessionOf(await signIn(world));
  const redis = new Redis(world.redis.options);
  const [key = ''] = await redis.keys('{caretaker}:presence:session:*');
  const stored = async () => JSON.parse((await redis.get(key)) ?? '').usedAt - clock.now();

  await clock.advance(59_000);
  await visit(world, cookie);
  const early = await stored();
  await clock.advance(1_000);
  await visit(world, cookie);

  expect(early).toBe(-59_000);
  expect(await stored()).toBe(0);
  const id = cookie.split('=')[1] ?? '';
  for (const one of await redis.keys('*session*')) {
    expect(await redis.pttl(one)).toBeGreaterThan(0);
    expect(one + (await redis.dump(one))).not.toContain(id);
  }
  redis.disconnect();
});

test(`a user has at most ${MAX_SESSIONS} sessions: with a further one that ends which was used longest ago`, async () => {
  const clock = heldClock();
  const world = await start({ clock });
  const cookies: string[] = [];
  for (let count = 0; count <= MAX_SESSIONS; count += 1) {
    cookies.push(sessionOf(await signIn(world)));
    await clock.advance(5_000);
    if (count === 20) await visit(world, cookies[0] ?? '');
  }

  const statuses = await Promise.all(
    cookies.map(async (cookie) => (await withSession(world, cookie)('/api/v1/runs')).status),
  );

  expect(statuses).toEqual([200, 401, ...Array.from({ length: MAX_SESSIONS - 1 }, () => 200)]);
});

test('to sign in again ends the session that the browser had', async () => {
  const world = await start();
  const before = sessionOf(await signIn(world));
  const headers = { origin: world.dashboard.url, cookie: before };
  const body = new URLSearchParams({ password: PASSWORD });
  const after = sessionOf(await world.ask('/sign-in', { method: 'POST', headers, body }));

  expect(await visit(world, before)).toBe(401);
  expect(await visit(world, after)).toBe(200);
});

test('while Redis is away who is signed in stays so, and others are told why they cannot sign in', async () => {
  const clock = heldClock();
  const world = await start({ clock });
  const known = await world.signedIn();
  const unknown = withSession(world, sessionOf(await signIn(world)).replace(/.$/, 'x'));
  await clock.advance(60_000);
  await world.redis.kill();

  const file = await known('/client/x/live.js');
  const page = await unknown('/');
  const form = await unknown('/sign-in');
  const refused = await signIn(world);

  expect(file.status).toBe(200);
  expect([page.status, form.status, refused.status]).toEqual([503, 200, 503]);
  const sentence = 'Redis does not answer, so no one can sign in at the moment. Try again in a minute.';
  expect(textOf(await page.text())).toContain(sentence);
  expect(textOf(await refused.text())).toContain(sentence);
  expect((await known('/healthz')).status).toBe(200);
  await world.redis.restart();
  let again = await signIn(world);
  while (again.status === 503) again = await signIn(world);
  expect(again.status).toBe(303);
  expect((await known('/api/v1/runs')).status).toBe(200);
});

test('a user sees where it is signed in, and signs out there, one by one or all at once', async () => {
  const world = await start({ access: () => users });
  const asAna = async (agent: string) => {
    const headers = { origin: world.dashboard.url, 'user-agent': agent };
    const body = new URLSearchParams({ name: 'ana', password: PASSWORD });
    return sessionOf(await world.ask('/sign-in', { method: 'POST', headers, body }));
  };
  const bens = sessionOf(await signIn(world, 'ben'));
  const [here, phone, library, hotel] = [
    withSession(world, await asAna('X11; Linux Firefox/128.0')),
    withSession(world, await asAna('iPhone Safari/605')),
    withSession(world, await asAna('Windows Chrome/130.0')),
    withSession(world, await asAna('curl/8.5.0')),
  ] as const;
  const list = async () => (await here('/sessions')).text();
  const ends = (html: string) =>
    [...html.matchAll(/\/sessions\/end\?session=(\w+)/g)].map(([, hash = '']) => hash);
  const end = (session = '') => postForm(here, world.dashboard.url, '/sessions/end', { session });

  const before = await list();
  expect(textOf(before)).toMatch(
    /curl\/8\.5\.0 127\.0\.0\.1 .* Chrome on Windows .* Safari on iPhone .* Sign out/s,
  );
  expect(textOf(before)).toMatch(/Firefox on Linux 127\.0\.0\.1 \S+ .*this one/s);
  const [newest = ''] = ends(before);
  expect(textOf(await (await here(`/sessions/end?session=${newest}`)).text())).toContain(
    'Sign out curl/8.5.0 (127.0.0.1)?',
  );
  expect((await end(newest)).status).toBe(303);
  expect((await hotel('/api/v1/runs')).status).toBe(401);
  expect((await library('/api/v1/runs')).status).toBe(200);
  expect((await end(newest)).status).toBe(404);
  const [theirs = ''] = ends(await (await withSession(world, bens)('/sessions')).text());
  expect(theirs).toBe('');

  expect(textOf(await (await here('/sessions/end')).text())).toContain('Sign out 2 other sessions?');
  expect((await end()).status).toBe(303);

  const statuses = [here, phone, library, withSession(world, bens)].map(
    async (ask) => (await ask('/sessions')).status,
  );
  expect(await Promise.all(statuses)).toEqual([200, 401, 401, 200]);
  expect((await auditOf(world)).map(({ who, what, detail }) => [who.name, what, detail])).toEqual([
    ['ana', 'sign-out', 'curl/8.5.0 (127.0.0.1)'],
    ['ana', 'sign-out', '2 other sessions'],
  ]);
});

test('the session of somebody else can neither be seen nor ended, and no stream sends the page', async () => {
  const world = await start({ access: () => users });
  const anas = withSession(world, sessionOf(await signIn(world, 'ana')));
  const bens = withSession(world, sessionOf(await signIn(world, 'ben')));
  const [hash = ''] = [...(await world.records.sessions.of('ana')).keys()];

  const page = await (await bens('/sessions')).text();
  const asked = await bens(`/sessions/end?session=${hash}`);
  const ended = await postForm(bens, world.dashboard.url, '/sessions/end', { session: hash });
  const stream = await openEvents(bens, '/events?page=/sessions&since=0');
  await stream.next();
  const [second, third] = [await stream.next(), await stream.next()];
  await stream.end();

  expect(page).not.toContain(hash);
  expect([asked.status, ended.status]).toEqual([404, 404]);
  expect((await anas('/api/v1/runs')).status).toBe(200);
  expect(second + third).not.toContain('event: page');
});

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36 Edg/130.0',
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 Version/17.5 Safari/605.1.15',
    'Safari on macOS',
  ],
  [
    'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/130.0 Mobile Safari/537.36',
    'Chrome on Android',
  ],
  ['curl/8.5.0', 'curl/8.5.0'],
  ['', 'unknown'],
])('the browser %s is %s', async (sent, name) => {
  expect(browserIn(sent)).toBe(name);
});
