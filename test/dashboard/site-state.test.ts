/** The state of a site on its page: what it costs the account, and how old it is. */
import { afterEach, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../src/app/daemon.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import { workedOn } from '../support/worked-on.ts';
import { aRun, ended, postForm, sessionOf } from './world.ts';

const PASSWORD = 'correct horse';

let world: World;
let daemon: Daemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  await world.stop();
});

/** The page of the first site of the service, as somebody sees it who has signed in. */
async function siteRead(): Promise<() => Promise<string>> {
  world = await startWorld({ sites: 1, speedUp: 1, work: false, dashboard: { password: PASSWORD } });
  daemon = await startDaemon({ caretaker: world.caretaker, roles: ['dashboard'] });
  const [site = ''] = world.sandbox.siteIds();
  const at = world.clock.now();
  await workedOn(world.caretaker.records, aRun({ createdAt: at }), [ended(site, 'succeeded', { site })], {
    at,
  });
  const url = daemon.dashboard?.url ?? '';
  const ask = (path: string, init?: RequestInit) => fetch(url + path, { redirect: 'manual', ...init });
  const cookie = sessionOf(await postForm(ask, url, '/sign-in', { password: PASSWORD }));
  return async () => {
    const answer = await ask(`/targets/default/${site}`, { headers: { cookie } });
    expect(answer.status).toBe(200);
    return (await answer.text()).replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
  };
}

const asked = () => world.sandbox.journal.countOf('showSite');

test('however many readers open the page of a site, the account is asked for its state once a minute', async () => {
  const read = await siteRead();

  const pages = await Promise.all([read(), read(), read(), read()]);
  expect(asked()).toBe(1);
  for (const page of pages) expect(page).toContain('Connection connected');
  world.clock.leap(50_000);
  await read();
  expect(asked()).toBe(1);
  world.clock.leap(11_000);
  await read();
  await read();

  expect(asked()).toBe(2);
});

test('the page says how old the state is', async () => {
  const read = await siteRead();

  expect(await read()).toContain('Asked just now');
  world.clock.leap(50_000);

  expect(await read()).toMatch(/Asked 1 min ago/);
});

test('a service that does not answer is asked once a minute too, and the page says so', async () => {
  const read = await siteRead();
  world.sandbox.outage.begin('status-503');

  const pages = [await read(), await read()];

  for (const page of pages) expect(page).toContain('Not known: showSite: the service gave no usable answer');
  // One call; a read for a person is tried up to three times.
  expect(asked()).toBeLessThanOrEqual(3);
});
