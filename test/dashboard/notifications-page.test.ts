/** The page of notifications: the receivers with their health, each message with its attempts, and sending it again. */
import { afterEach, expect, test } from 'vitest';
import { receiverViews } from '../../src/notify/receiver-view.ts';
import type { NewDelivery } from '../../src/records/delivery-store.ts';
import { deliver, type Result } from '../support/deliveries.ts';
import { heldClock, NOON } from '../support/held-clock.ts';
import { aPolicy, postForm, startWorld, type World } from './world.ts';

const HOUR = 3_600_000;
let world: World;
afterEach(() => world.stop());

const textOf = (html: string) =>
  html
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
/** The rows of a table by its caption. */
const rowsOf = (html: string, name: string) =>
  (html.split(`>${name}</caption>`)[1]?.split('</table>')[0] ?? '')
    .split('<tbody>')[1]
    ?.split('<tr ')
    .slice(1)
    .map((row) => textOf(row.slice(row.indexOf('>') + 1)));

const about = (id: string, changes: Partial<NewDelivery> = {}): NewDelivery => ({
  id: `msg_${id}`,
  to: 'ops',
  event: 'run.failed',
  at: NOON - HOUR,
  policy: 'nightly-sync',
  account: 'default',
  run: 'nightly-sync.1',
  message: { text: `nightly-sync failed (${id}).\n<script>` },
  ...changes,
});
const accepted: Result = { state: 'delivered', attempt: { at: NOON - HOUR, is: 'delivered', ms: 84 } };
const rejected: Result = {
  state: 'dead',
  attempt: { at: NOON, is: 'rejected', ms: 12, why: 'it answered with HTTP 404' },
};

const start = () =>
  startWorld({
    clock: heldClock(),
    policies: () => [aPolicy('nightly-sync')],
    receivers: () =>
      receiverViews({
        ops: { slack: { url: 'https://hooks.example/secret' } },
        alive: { heartbeat: { url: 'https://hc.example/secret', every: 60_000 } },
      }),
  });

test('receivers are shown with their health, without their addresses, and messages with what became of them', async () => {
  world = await start();
  await deliver(world.records, about('first', { at: NOON - 2 * HOUR }), accepted);
  await deliver(world.records, about('second'), rejected);
  await deliver(world.records, about('third', { to: 'gone', at: NOON }));
  const ask = await world.signedIn();

  const html = await (await ask('/notifications')).text();

  expect(rowsOf(html, 'Receivers')).toEqual([
    'ops unhealthy slack 1 h ago 0 1 Grouped within 30s, reminders after 4h',
    'alive not known heartbeat not known none none A request every 1m, no messages',
    'gone not known not known not known 1 0 The configuration does not have it.',
  ]);
  expect(rowsOf(html, 'Notifications')?.map((row) => row.replace(/^.*?(gone|ops)/, '$1'))).toEqual([
    'gone pending nightly-sync failed (third). nightly-sync.1 0',
    'ops dead nightly-sync failed (second). nightly-sync.1 1 Resend msg_second',
    'ops delivered nightly-sync failed (first). nightly-sync.1 1',
  ]);
  expect(html).not.toContain('hooks.example');
  expect(html).not.toContain('<script>');
});

test.each([
  ['?state=dead', ['second']],
  ['?to=gone', ['third']],
  ['?policy=nightly-sync&state=delivered', ['first']],
  ['?policy=other', []],
])('with %s only these are listed', async (query, ids) => {
  world = await start();
  await deliver(world.records, about('first', { at: NOON - 2 * HOUR }), accepted);
  await deliver(world.records, about('second'), rejected);
  await deliver(world.records, about('third', { to: 'gone', at: NOON }));
  const ask = await world.signedIn();

  const html = await (await ask(`/notifications${query}`)).text();

  expect([...html.matchAll(/data-key="msg_(\w+)"/g)].map(([, id]) => id)).toEqual(ids);
  if (ids.length === 0) expect(html).toContain('No notification matches.');
});

test('pages continue where the one before ended, also between messages of the same time', async () => {
  world = await start();
  const all = Array.from({ length: 120 }, (_, index) => `n${String(index).padStart(3, '0')}`);
  for (const id of all) await deliver(world.records, about(id), accepted);
  const ask = await world.signedIn();
  const seen: string[] = [];
  for (let path: string | undefined = '/notifications'; path !== undefined; ) {
    const html = await (await ask(path)).text();
    seen.push(...[...html.matchAll(/data-key="msg_(\w+)"/g)].map(([, id]) => String(id)));
    path = /href="([^"]+)">Older/.exec(html)?.[1]?.replaceAll('&amp;', '&');
  }

  expect(seen).toEqual(all.toReversed());
});

test('one notification has its text and attempts, and is sent again after a question', async () => {
  world = await start();
  await deliver(world.records, about('second'), rejected);
  const ask = await world.signedIn();
  const html = await (await ask('/notifications/msg_second')).text();
  expect(textOf(html)).toContain('nightly-sync failed (second). &lt;script&gt;');
  expect(rowsOf(html, 'Attempts')?.[0]).toContain('rejected 12 ms it answered with HTTP 404');

  expect(await (await ask('/notifications/msg_second/resend')).text()).toContain('Send it to ops again?');
  const answer = await postForm(ask, world.dashboard.url, '/notifications/msg_second/resend', {});

  expect(answer.status).toBe(303);
  expect(await world.records.deliveries.get('msg_second')).toMatchObject({ state: 'pending', due: NOON });
  expect((await ask('/notifications/msg_none')).status).toBe(404);
});
