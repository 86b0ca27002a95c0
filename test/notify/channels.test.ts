/** Every kind of channel, over real HTTP: what it sends, and what follows from each answer. */
import { Agent } from 'undici';
import { expect, test } from 'vitest';
import { send } from '../../src/notify/channels.ts';
import { openConnections, type Sent } from '../../src/notify/post.ts';
import { combined } from '../../src/notify/summary-message.ts';
import type { NewDelivery } from '../../src/records/delivery-store.ts';
import type { Receiver } from '../../src/settings/receiver.ts';
import { startReceiver } from './receiver.ts';
import { NOON } from './world.ts';

/** Text as it may come from a site's label: it must be shown, and do nothing. */
const HOSTILE = 'x <!channel> @everyone [a](http://evil.example) **b** & \u202Egnp.exe';
const LINK = 'https://caretaker.example/runs/nightly-sync.1';

const delivery = (changes: Partial<NewDelivery> = {}): NewDelivery => ({
  id: 'msg_1',
  to: 'ops',
  event: 'run.failed',
  at: NOON,
  policy: 'nightly-sync',
  account: 'default',
  run: 'nightly-sync.1',
  link: LINK,
  message: { text: `nightly-sync failed: of 2 targets, 2 failed.\n${HOSTILE}` },
  ...changes,
});

/** The settings of each kind at an address. */
const kinds: Record<string, (url: string) => Receiver> = {
  webhook: (url) => ({ webhook: { url } }),
  slack: (url) => ({ slack: { url } }),
  teams: (url) => ({ teams: { url } }),
  discord: (url) => ({ discord: { url } }),
  pagerduty: (url) => ({ pagerduty: { url, routing_key: 'key' } }),
  ntfy: (url) => ({ ntfy: { url, topic: 'fleet', token: 'tk_1' } }),
};

const dispatcher = new Agent({ headersTimeout: 300 });
const sendTo = (receiver: Receiver, what = delivery()): Promise<Sent> =>
  send(what, receiver, { now: NOON, dispatcher });

/** What a channel sends for a delivery. */
async function sentBy(kind: string, changes: Partial<NewDelivery> = {}) {
  const receiver = await startReceiver(204);
  expect(await sendTo((kinds[kind] as (url: string) => Receiver)(receiver.url), delivery(changes))).toEqual({
    is: 'delivered',
    status: 204,
  });
  const [{ body, headers } = { body: 'null', headers: {} }] = receiver.received;
  expect(headers).toMatchObject({ 'content-type': 'application/json' });
  return { body: JSON.parse(body), headers: headers as Record<string, string> };
}

// Each kind sends with the same function: what an answer means is shown with one of them.
test.each<[string, Parameters<typeof startReceiver>[0], Sent]>([
  ['accepts', 202, { is: 'delivered', status: 202 }],
  ['answers 500', 500, { is: 'failed', why: 'it answered with HTTP 500', status: 500 }],
  [
    'answers 429 with Retry-After',
    (response) => response.writeHead(429, { 'retry-after': '7' }).end(),
    { is: 'failed', why: 'it answered with HTTP 429', status: 429, retryAfterMs: 7_000 },
  ],
  ['answers 400', 400, { is: 'rejected', why: 'it answered with HTTP 400', status: 400 }],
  ['cuts', (response) => response.destroy(), { is: 'failed', why: 'the connection was cut' }],
  ['hangs', () => undefined, { is: 'failed', why: 'no answer within 10 s' }],
])('a receiver that %s', async (_, answer, expected) => {
  const receiver = await startReceiver(answer);
  expect(await sendTo({ webhook: { url: receiver.url } })).toEqual(expected);
  expect(receiver.received).toHaveLength(1);
});

test('a name that leads to this machine is refused when it is connected to, unless that is allowed', async () => {
  const receiver = await startReceiver(204);
  const { port } = new URL(receiver.url);
  const sendOver = async (mayBeNear: boolean) => {
    const dispatcher = openConnections((host) => mayBeNear && host === 'localhost');
    const sent = await send(
      delivery(),
      { webhook: { url: `http://localhost:${port}` } },
      { now: NOON, dispatcher },
    );
    await dispatcher.close();
    return sent;
  };

  expect(await sendOver(false)).toEqual({
    is: 'failed',
    why: 'its host name leads to this machine or a link-local address, and it has no "allow_private: true"',
  });
  expect(receiver.received).toHaveLength(0);
  expect(await sendOver(true)).toEqual({ is: 'delivered', status: 204 });
});

test('Slack gets a plain text, in which nobody is mentioned, and a button to the page', async () => {
  const { body } = await sentBy('slack');
  expect(body.text).toBe('nightly-sync failed: of 2 targets, 2 failed.');
  const [section, actions] = body.blocks;
  expect(section.text).toMatchObject({ type: 'plain_text', text: expect.stringContaining('<!channel>') });
  expect(actions.elements[0]).toMatchObject({ type: 'button', url: LINK });
  const { body: hostile } = await sentBy('slack', { message: { text: HOSTILE } });
  expect(hostile.text).toContain('&lt;!channel&gt;');
  const { body: long } = await sentBy('slack', { message: { text: '😀'.repeat(5_000) } });
  expect(long.blocks[0].text.text.length).toBeLessThanOrEqual(3_000);
  expect(long.blocks[0].text.text).toMatch(/^(😀)+…$/u);
});

test('a message that arrives late says when it happened', async () => {
  const receiver = await startReceiver(204);
  const chat: Receiver = { slack: { url: receiver.url } };
  for (const now of [NOON + 599_000, NOON + 7_200_000]) await send(delivery(), chat, { now, dispatcher });
  const lines = receiver.received.map(({ body }) => JSON.parse(body).blocks[0].text.text.split('\n')[1]);
  expect(lines).toEqual([expect.stringMatching(/^x /), 'This was at 2026-11-21 12:00Z.']);
});

test('Teams gets a card whose texts are not Markdown, with a link to the page', async () => {
  const { body } = await sentBy('teams');
  const [{ contentType, content }] = body.attachments;
  expect(contentType).toBe('application/vnd.microsoft.card.adaptive');
  expect(content).toMatchObject({
    type: 'AdaptiveCard',
    version: '1.4',
    actions: [{ type: 'Action.OpenUrl', url: LINK }],
  });
  expect(content.body.map(({ type }: { type: string }) => type)).toEqual(['RichTextBlock', 'RichTextBlock']);
  expect(content.body[0].inlines[0]).toMatchObject({ color: 'attention' });
  expect(content.body[1].inlines[0].text).toContain('[a](http://evil.example) **b**');
});

test('Discord gets a text without Markdown that mentions nobody and fits', async () => {
  const { body } = await sentBy('discord');
  expect(body.allowed_mentions).toEqual({ parse: [] });
  expect(body.content).toContain('\\[a\\]\\(http\\://evil.example\\) \\*\\*b\\*\\*');
  expect(body.content).toMatch(new RegExp(`\n<${LINK}>$`));
  // Else it makes a link of each address, and a time of `<t:0>`.
  const { body: linked } = await sentBy('discord', { message: { text: 'https://evil.example <t:0>' } });
  expect(linked.content).toContain('https\\://evil.example \\<t\\:0\\>\n');
  const { body: long } = await sentBy('discord', { message: { text: '*'.repeat(3_000) } });
  expect(long.content.length).toBeLessThanOrEqual(2_000);
  expect(long.content).toMatch(/^(\\\*)+…\n</);
});

test('PagerDuty opens one incident for the runs of a policy, and a run that succeeds resolves it', async () => {
  const { body: problem } = await sentBy('pagerduty');
  expect(problem).toMatchObject({
    routing_key: 'key',
    event_action: 'trigger',
    dedup_key: 'caretaker/default/nightly-sync/runs',
    payload: {
      summary: 'nightly-sync failed: of 2 targets, 2 failed.',
      severity: 'error',
      source: 'nightly-sync',
      timestamp: '2026-11-21T12:00:00.000Z',
      class: 'run.failed',
    },
    links: [{ href: LINK }],
  });
  // What a check found is no failure.
  const counts = { planned: 2, succeeded: 0, failed: 2, found: 2, skipped: 0, cancelled: 0 };
  const found = { message: { text: 'sweep found something.', counts } };
  expect((await sentBy('pagerduty', found)).body.payload).toMatchObject({ severity: 'warning' });
  const [first, second] = [delivery(found), delivery({ ...found, id: 'msg_2', about: 'another' })];
  expect(combined({ kind: 'group', messages: [first, second] }).message.text).toMatch(
    /^2 notifications: nightly-sync found something\n/,
  );
  const { body: over } = await sentBy('pagerduty', { event: 'run.succeeded' });
  expect(over).toMatchObject({ event_action: 'resolve', dedup_key: problem.dedup_key });
});

test('PagerDuty has another incident for findings, which is resolved when none are left', async () => {
  const findings = (event: string, open: number) =>
    sentBy('pagerduty', { event, message: { text: 'x', findings: { open, new: 0, resolved: 1 } } });
  const { body: problem } = await findings('policy.findings', 2);
  const { body: fewer } = await findings('policy.recovered', 1);
  const { body: none } = await findings('policy.recovered', 0);
  expect([problem, fewer, none].map(({ event_action }) => event_action)).toEqual([
    'trigger',
    'trigger',
    'resolve',
  ]);
  expect(new Set([problem, fewer, none].map(({ dedup_key }) => dedup_key))).toEqual(
    new Set(['caretaker/default/nightly-sync/findings']),
  );
});

test('ntfy gets the topic, a priority and the page, and an access token', async () => {
  const { body, headers } = await sentBy('ntfy');
  expect(body).toMatchObject({
    topic: 'fleet',
    title: 'nightly-sync failed: of 2 targets, 2 failed.',
    priority: 5,
    click: LINK,
  });
  expect(headers['authorization']).toBe('Bearer tk_1');
});

test.each(Object.keys(kinds).filter((kind) => kind !== 'webhook'))(
  '%s shows no invisible characters',
  async (kind) => {
    expect(JSON.stringify((await sentBy(kind)).body)).not.toContain('\u202E');
  },
);

test('a heartbeat gets no messages', async () => {
  const receiver = await startReceiver(204);
  expect(await sendTo({ heartbeat: { url: receiver.url, every: 60_000 } })).toMatchObject({ is: 'rejected' });
  expect(receiver.received).toEqual([]);
});
