/** The page of notifications: the receivers with their health, each message with its attempts, and sending it again. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { receiverViews } from '../../src/notify/receiver-view.ts';
import { sendTest } from '../../src/notify/send-test.ts';
import type { NewDelivery } from '../../src/records/delivery-store.ts';
import type { Receiver } from '../../src/settings/receiver.ts';
import { startReceiver } from '../notify/receiver.ts';
import { deliver, type Result } from '../support/deliveries.ts';
import { heldClock, NOON } from '../support/held-clock.ts';
import {
  type Ask,
  aPolicy,
  auditOf,
  PASSWORD,
  pagesFrom,
  postForm,
  rowsOf,
  sessionOf,
  startWorld,
  textOf,
  type World,
} from './world.ts';

const HOUR = 3_600_000;
let world: World;
afterEach(() => world?.stop());

const rowsIn = (html: string, caption: string) => rowsOf(html, `>${caption}</caption>`);
const idsIn = (html: string) => [...html.matchAll(/data-key="msg_(\w+)"/g)].map(([, id]) => id);

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

const start = (ops: Receiver = { slack: { url: 'https://hooks.example/secret' } }) => {
  const clock = heldClock();
  const alive = { heartbeat: { url: 'https://hc.example/secret', every: 60_000 } };
  return startWorld({
    clock,
    policies: () => [aPolicy('nightly-sync')],
    receivers: () => receiverViews({ ops, alive }),
    sendTest: (_name, id) => sendTest(ops, clock, id),
  });
};

describe('of three notifications', () => {
  let three: World;
  beforeAll(async () => {
    three = await start();
    await deliver(three.records, about('first', { at: NOON - 2 * HOUR }), accepted);
    await deliver(three.records, about('second'), rejected);
    await deliver(three.records, about('third', { to: 'gone', at: NOON }));
  });
  afterAll(() => three.stop());

  test('each is shown with what became of it, and receivers with their health, without their addresses', async () => {
    const { html } = await three.look('/notifications');

    expect(rowsIn(html, 'Receivers')).toEqual([
      'ops unhealthy slack 1 h ago 0 1 Grouped within 30s, reminders after 4h Send a test to ops',
      'alive not known heartbeat not known none none A request every 1m, no messages',
      'gone not known not known not known 1 0 The configuration does not have it.',
    ]);
    expect(rowsIn(html, 'Notifications').map((row) => row.replace(/^.*?(gone|ops)/, '$1'))).toEqual([
      'gone pending nightly-sync failed (third). nightly-sync.1 0',
      'ops dead nightly-sync failed (second). nightly-sync.1 1 Resend msg_second',
      'ops delivered nightly-sync failed (first). nightly-sync.1 1',
    ]);
    expect(html).not.toContain('hooks.example');
    expect(html).not.toContain('<script>');
  });

  test.each([
    ['?state=dead', ['second']],
    ['?receiver=gone', ['third']],
    ['?policy=nightly-sync&state=delivered', ['first']],
    ['?policy=other', []],
  ])('with %s only these are listed', async (query, ids) => {
    const { html } = await three.look(`/notifications${query}`);

    expect(idsIn(html)).toEqual(ids);
    if (ids.length === 0) expect(html).toContain('No notification matches.');
  });
});

test('pages continue where the one before ended, also between messages of the same time', async () => {
  world = await start();
  const all = Array.from({ length: 120 }, (_, index) => `n${String(index).padStart(3, '0')}`);
  for (const id of all) await deliver(world.records, about(id), accepted);

  const pages = await pagesFrom(await world.signedIn(), '/notifications', 'Older');
  const seen = pages.flatMap(idsIn);

  expect(seen).toEqual(all.toReversed());
});

test('one notification has its text and attempts, and is sent again after a question', async () => {
  world = await start();
  await deliver(world.records, about('second'), rejected);
  const { html, text } = await world.look('/notifications/msg_second');
  expect(text).toContain('nightly-sync failed (second). &lt;script&gt;');
  expect(rowsIn(html, 'Attempts')[0]).toContain('rejected 12 ms it answered with HTTP 404');

  expect((await world.look('/notifications/msg_second/resend')).html).toContain('Send it to ops again?');
  const answer = await world.press('/notifications/msg_second/resend');

  expect(answer.status).toBe(303);
  expect(await world.records.deliveries.get('msg_second')).toMatchObject({ state: 'pending', due: NOON });
  expect((await world.look('/notifications/msg_none')).status).toBe(404);
});

test('all that were given up are sent again after one question, the oldest first, and no others', async () => {
  world = await start();
  const { deliveries } = world.records;
  await deliver(world.records, about('old', { at: NOON - 48 * HOUR }), rejected);
  await deliver(world.records, about('first', { at: NOON - 2 * HOUR }), rejected);
  await deliver(world.records, about('second'), rejected);
  await deliver(world.records, about('mail', { to: 'mail' }), rejected);
  await deliver(world.records, about('arrived'), accepted);
  const { html } = await world.look('/notifications?receiver=ops&from=1d');
  expect(rowsIn(html, 'Notifications')).toHaveLength(3);
  expect(html).toContain('href="/bulk/resend?receiver=ops&amp;from=1d"');

  const asked = await world.look('/bulk/resend?receiver=ops&from=1d');
  expect(asked.text).toContain('Resend 2 notifications? They go to ops');
  const answer = await world.press('/bulk/resend', { receiver: 'ops', from: '1d' });

  expect(answer.status).toBe(303);
  const states = ['old', 'first', 'second', 'mail', 'arrived'].map(
    async (id) => (await deliveries.get(`msg_${id}`))?.state,
  );
  expect(await Promise.all(states)).toEqual(['dead', 'pending', 'pending', 'dead', 'delivered']);
  expect((await world.look('/bulk/resend?receiver=ops&from=1d')).status).toBe(404);
});

test('a receiver is tested from its row after a question, and the result is shown and audited without its address', async () => {
  const ops = await startReceiver(204, 404);
  world = await start({ webhook: { url: ops.url } });
  const { url } = world.dashboard;
  const session = sessionOf(await postForm(world.ask, url, '/sign-in', { password: PASSWORD }));
  const ask: Ask = (path, init = {}) =>
    world.ask(path, { ...init, headers: { ...init.headers, cookie: session } });
  expect(await (await ask('/receivers/ops/test')).text()).toContain('Send a test message to ops?');
  expect(ops.received).toEqual([]);

  const pages: string[] = [];
  for (let time = 0; time < 2; time += 1) {
    const answer = await postForm(ask, url, '/receivers/ops/test');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/notifications']);
    const toast = answer.headers.getSetCookie().find((one) => one.startsWith('caretaker_toast'));
    const cookie = `${session}; ${toast?.split(';')[0]}`;
    const page = await world.ask('/notifications', { headers: { cookie } });
    pages.push((await page.text()).replaceAll('&quot;', '"'));
  }

  expect(textOf(pages[0] ?? '')).toContain('"ops" has accepted a test message (HTTP 204).');
  expect(textOf(pages[1] ?? '')).toContain('"ops" was not notified: it answered with HTTP 404.');
  expect(pages[1]).toContain('class="toast failure"');
  expect(ops.received.map(({ body }) => JSON.parse(body).type)).toEqual(['test', 'test']);
  const lines = await auditOf(world);
  expect(lines).toMatchObject([
    { what: 'notifications.test', result: 'requested', detail: 'to ops' },
    { result: 'done', detail: '"ops" has accepted a test message (HTTP 204).' },
    { result: 'requested' },
    { result: 'done', detail: '"ops" was not notified: it answered with HTTP 404.' },
  ]);
  expect(JSON.stringify([pages, lines])).not.toContain(ops.url);
  expect(await world.records.deliveries.list({ limit: 10 })).toEqual([]);
  for (const [name, status] of [
    ['opps', 404],
    ['alive', 400],
  ] as const)
    expect((await postForm(ask, url, `/receivers/${name}/test`)).status).toBe(status);
});

test('programs test a receiver by the HTTP API: a repetition with the same key sends nothing again', async () => {
  const ops = await startReceiver(500);
  world = await start({ webhook: { url: ops.url } });
  const send = async (receiver: string) => {
    const answer = await world.ask(`/api/v1/receivers/${receiver}/test`, {
      method: 'POST',
      headers: { authorization: `Bearer ${PASSWORD}`, 'idempotency-key': `a ${receiver}` },
    });
    return [answer.status, await answer.json()];
  };

  const [first, again] = [await send('ops'), await send('ops')];

  const why = 'it answered with HTTP 500';
  expect(first).toEqual([200, { receiver: 'ops', result: 'failed', http_status: 500, why, ms: 0 }]);
  expect(again).toEqual(first);
  expect(ops.received).toHaveLength(1);
  expect(await send('opps')).toMatchObject([404, { detail: expect.stringContaining('did you mean ops?') }]);
  expect(await send('alive')).toMatchObject([
    400,
    { detail: '"alive" is a heartbeat, which gets no messages.' },
  ]);
});
