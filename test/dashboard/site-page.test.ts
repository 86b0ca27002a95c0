/** The page of a site: what the service showed of it, what that costs the account, and how old it is. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { findIn } from '../support/findings.ts';
import { workedOn } from '../support/worked-on.ts';
import { type DaemonWorld, startDaemonWorld } from './daemon-world.ts';
import { aRun, ended, openEvents } from './world.ts';

let daemon: DaemonWorld;
let site: string;
beforeAll(async () => {
  daemon = await startDaemonWorld({ sites: 2, speedUp: 1 });
  [site = ''] = daemon.world.sandbox.siteIds();
});
afterAll(() => daemon.stop());

const lists = () => daemon.world.sandbox.journal.countOf('listSites');
let before = 0;
/** How often the account was asked for its sites in this test. */
const asked = () => lists() - before;
beforeEach(() => {
  // What earlier tests have read is old.
  daemon.world.clock.leap(3_600_000);
  before = lists();
});

test('a site that no run has worked on has its page, and the search finds it', async () => {
  const { ask, look } = daemon;
  const { text } = await look(`/targets/default/${site}`);

  expect(text).toContain('No stored run has worked on it.');
  expect(text).toMatch(/State (connected|disconnected)/);
  expect(text).toContain('As of just now');
  expect((await look('/targets/default/nothing')).status).toBe(404);
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
  expect((await look(`/search?q=${site}`)).html).toContain(`href="/targets/default/${site}"`);
});

test('however many readers open pages of sites, the account is asked for them once in five minutes', async () => {
  const { look, world } = daemon;
  const read = () => Promise.all(world.sandbox.siteIds().map((id) => look(`/targets/default/${id}`)));

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
  const { look, world } = daemon;
  await look(`/targets/default/${site}`);
  world.sandbox.outage.begin('status-503');
  world.clock.leap(3_600_000);

  const { text } = await look(`/targets/default/${site}`);
  world.sandbox.outage.end();

  expect(text).toMatch(/State (connected|disconnected)/);
  expect(text).toContain('Not read again: listSites: the service gave no usable answer');
  expect(text).toContain('As of 1 h ago');
});

test('an open page that is brought up to date asks the account for nothing', async () => {
  const { ask, look, world } = daemon;
  await look('/sites');
  world.clock.leap(3_600_000);

  for (const path of ['/sites', `/targets/default/${site}`]) {
    const events = await openEvents(ask, `/events?${new URLSearchParams({ page: path, since: '1' })}`);
    let text = '';
    while (!text.includes('event: page')) text += await events.next();
    await events.end();
  }

  expect(asked()).toBe(1);
  await look('/sites');
  expect(asked()).toBe(2);
});

test('what a check of updates says about a site is on the page of the site', async () => {
  const { records } = daemon.world.caretaker;
  const at = daemon.world.clock.now();
  const target = `site:${site}`;
  await workedOn(records, aRun({ createdAt: at }), [ended(target, 'failed', { detail: 'The core is old.' })]);
  await findIn(records, { at, found: [{ target, message: 'The core is vulnerable.' }] });

  const moved = await daemon.look(`/targets/default/${encodeURIComponent(target)}?run=x`);
  expect([moved.status, moved.headers.get('location')]).toEqual([302, `/targets/default/${site}?run=x`]);
  const { text } = await daemon.look(`/targets/default/${site}`);

  expect(text).toContain('The core is old.');
  expect(text).toContain('The core is vulnerable.');
});
