/** A form that is sent when its session has ended: it leads to sign-in, and back with what was typed. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type HeldClock, heldClock } from '../support/held-clock.ts';
import { aPolicy, PASSWORD, postForm, sessionOf, startWorld, textOf, usersOf, type World } from './world.ts';

let clock: HeldClock;
let world: World;
let cookie: string;
beforeEach(async () => {
  clock = heldClock();
  world = await startWorld({
    clock,
    password: null,
    access: () => usersOf({ ana: [{ role: 'operator' }], ben: [{ role: 'operator' }] }),
    policies: () => [aPolicy('nightly-sync')],
  });
  cookie = sessionOf(await signIn('ana'));
});
afterEach(() => world.stop());

const signIn = (name: string, to = '/') =>
  postForm(world.ask, world.dashboard.url, '/sign-in', { name, password: PASSWORD, to });

/** Sends a form as a browser does that still has the cookie. */
const send = (path: string, fields: Record<string, string> | [string, string][]) =>
  world.ask(path, {
    method: 'POST',
    headers: { cookie, origin: world.dashboard.url, accept: 'text/html' },
    body: new URLSearchParams(fields),
  });

/** Where the sign-in page leads to afterwards. */
const leadsTo = (answer: Response): string =>
  new URL(answer.headers.get('location') ?? '', world.dashboard.url).searchParams.get('to') ?? '';

const PAUSE = '/policies/nightly-sync/pause';
const isPaused = async () =>
  (await world.records.policies.many([aPolicy('nightly-sync')])).get('nightly-sync')?.pause;

test('the question is there again after the sign-in, with what was typed, and nothing was done', async () => {
  await clock.advance(12 * 3_600_000);

  const sent = await send(`${PAUSE}?back=/policies`, { reason: 'Migration "B" & tests', for: '3d' });
  const page = await world.ask(sent.headers.get('location') ?? '');
  const signedIn = await signIn('ana', leadsTo(sent));
  cookie = sessionOf(signedIn);
  const question = await (
    await world.ask(signedIn.headers.get('location') ?? '', { headers: { cookie } })
  ).text();

  expect(sent.status).toBe(303);
  expect(textOf(await page.text())).toContain('Your session had ended, so nothing was done.');
  expect(textOf(question)).toContain('Pause nightly-sync? ');
  expect(textOf(question)).toContain('Check what you typed, and send it again.');
  expect(question).toContain('value="Migration &quot;B&quot; &amp; tests"');
  expect(question).toMatch(/value="3d"/);
  expect(question).toContain(`action="${PAUSE}?back=%2Fpolicies"`);
  expect(await isPaused()).toBeUndefined();
  expect((await send(PAUSE, { reason: 'Migration' })).status).toBe(303);
  expect(await isPaused()).toBeDefined();
});

test('someone else who signs in there does not get what was typed', async () => {
  await clock.advance(12 * 3_600_000);
  const to = leadsTo(await send(`${PAUSE}?back=/policies`, { reason: 'private' }));

  const bens = await signIn('ben', to);
  cookie = sessionOf(bens);
  const byHand = await (await world.ask(to, { headers: { cookie } })).text();

  expect(bens.headers.get('location')).toBe('/policies');
  expect(byHand).not.toContain('private');
});

test('without a session that it knows, or with very much text, only the page is found again', async () => {
  await clock.advance(12 * 3_600_000);
  const much = leadsTo(await send(`${PAUSE}?back=/policies`, { reason: 'x'.repeat(3_000) }));
  cookie = cookie.replace(/.{3}$/, 'xyz');
  const unknown = leadsTo(await send(PAUSE, { reason: 'private' }));
  const out = leadsTo(await send('/sign-out', {}));

  expect([much, unknown, out]).toEqual(['/policies', PAUSE, '/']);
});

test('programs, and forms of other sites, are refused as before', async () => {
  await clock.advance(12 * 3_600_000);
  const program = await postForm(world.ask, world.dashboard.url, PAUSE, { reason: 'x' });
  const foreign = await world.ask(PAUSE, {
    method: 'POST',
    headers: { cookie, origin: 'https://evil.example', accept: 'text/html' },
    body: new URLSearchParams({ reason: 'x' }),
  });

  expect([program.status, foreign.status]).toEqual([401, 403]);
});
