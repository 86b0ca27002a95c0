/** The page of a site: what the service showed of it, what that costs the account, and how old it is. */
import { afterEach, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../src/app/daemon.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import { findIn } from '../support/findings.ts';
import { workedOn } from '../support/worked-on.ts';
import { aRun, ended, openEvents, postForm, sessionOf, textOf } from './world.ts';

const PASSWORD = 'correct horse';

let world: World;
let daemon: Daemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  await world.stop();
});

/** Asks for pages as somebody who has signed in. */
async function signedIn(): Promise<(path: string) => Promise<Response>> {
  world = await startWorld({ sites: 2, speedUp: 1, work: false, dashboard: { password: PASSWORD } });
  daemon = await startDaemon({ caretaker: world.caretaker, roles: ['dashboard'] });
  const url = daemon.dashboard?.url ?? '';
  const ask = (path: string, init?: RequestInit) => fetch(url + path, { redirect: 'manual', ...init });
  const cookie = sessionOf(await postForm(ask, url, '/sign-in', { password: PASSWORD }));
  return (path) => ask(path, { headers: { cookie } });
}

const asked = () => world.sandbox.journal.countOf('listSites');

test('a site that no run has worked on has its page, and the search finds it', async () => {
  const ask = await signedIn();
  const [site = ''] = world.sandbox.siteIds();

  const page = textOf(await (await ask(`/targets/default/${site}`)).text());

  expect(page).toContain('No stored run has worked on it.');
  expect(page).toMatch(/State (connected|disconnected)/);
  expect(page).toContain('As of just now');
  expect((await ask('/targets/default/nothing')).status).toBe(404);
  const [known, unknown] = [
    await ask(`/api/v1/targets/default/${site}`),
    await ask('/api/v1/targets/default/nothing'),
  ];
  expect(await known.json()).toEqual({ runs: [] });
  expect(unknown.status).toBe(404);
  expect(await unknown.json()).toMatchObject({
    code: 'NOT_FOUND',
    detail: expect.stringContaining('No stored run'),
  });
  expect(await (await ask(`/search?q=${site}`)).text()).toContain(`href="/targets/default/${site}"`);
});

test('however many readers open pages of sites, the account is asked for them once in five minutes', async () => {
  const ask = await signedIn();
  const read = () => Promise.all(world.sandbox.siteIds().map((site) => ask(`/targets/default/${site}`)));

  await Promise.all([read(), read()]);
  expect(asked()).toBe(1);
  world.clock.leap(290_000);
  await read();
  expect(asked()).toBe(1);
  world.clock.leap(11_000);
  await read();

  expect(asked()).toBe(2);
});

test('a service that does not answer leaves what it showed before, with its time and the reason', async () => {
  const ask = await signedIn();
  const [site = ''] = world.sandbox.siteIds();
  const read = async () => textOf(await (await ask(`/targets/default/${site}`)).text());
  await read();
  world.sandbox.outage.begin('status-503');
  world.clock.leap(3_600_000);

  const page = await read();

  expect(page).toMatch(/State (connected|disconnected)/);
  expect(page).toContain('Not read again: listSites: the service gave no usable answer');
  expect(page).toContain('As of 1 h ago');
});

test('what a check of updates says about a site is on the page of the site', async () => {
  const ask = await signedIn();
  const [site = ''] = world.sandbox.siteIds();
  const { records } = world.caretaker;
  const at = world.clock.now();
  const target = `site:${site}`;
  await workedOn(records, aRun({ createdAt: at }), [ended(target, 'failed', { detail: 'The core is old.' })]);
  await findIn(records, { at, found: [{ target, message: 'The core is vulnerable.' }] });

  const moved = await ask(`/targets/default/${encodeURIComponent(target)}?run=x`);
  expect([moved.status, moved.headers.get('location')]).toEqual([302, `/targets/default/${site}?run=x`]);
  const page = textOf(await (await ask(`/targets/default/${site}`)).text());

  expect(page).toContain('The core is old.');
  expect(page).toContain('The core is vulnerable.');
});

test('an open page that is brought up to date asks the account for nothing', async () => {
  const ask = await signedIn();
  const [site = ''] = world.sandbox.siteIds();
  await ask('/sites');
  world.clock.leap(3_600_000);

  for (const path of ['/sites', `/targets/default/${site}`]) {
    const events = await openEvents(ask, `/events?${new URLSearchParams({ page: path, since: '1' })}`);
    let text = '';
    while (!text.includes('event: page')) text += await events.next();
    await events.end();
  }

  expect(asked()).toBe(1);
  await ask('/sites');
  expect(asked()).toBe(2);
});
