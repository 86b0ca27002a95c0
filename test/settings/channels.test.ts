import { expect, test } from 'vitest';
import { scrub } from '../../src/secrets.ts';
import { findingsOf, load } from './load.ts';

const ofChannel = (channel: string) => load(`notifications: { ops: ${channel} }\n`).notifications['ops'];
const errorsOf = (channel: string): string[] =>
  findingsOf(() => ofChannel(channel)).map(({ path, message }) => `${path}: ${message}`);

test('a channel has the settings of its kind, with defaults', () => {
  expect(ofChannel('{ pagerduty: { routing_key: key-4711 } }')).toEqual({
    name: 'ops',
    pagerduty: { routing_key: 'key-4711', url: 'https://events.pagerduty.com/v2/enqueue' },
  });
  expect(ofChannel('{ heartbeat: { url: "https://hc.example/uuid-4711" } }')).toEqual({
    name: 'ops',
    heartbeat: { url: 'https://hc.example/uuid-4711', every: 60_000 },
  });
  expect(scrub('key-4711 https://hc.example/uuid-4711')).not.toContain('4711');
});

test('a receiver may be at this machine when that is written, and in the own network in any case', () => {
  expect(ofChannel('{ webhook: { url: "http://127.0.0.1/x" }, allow_private: true }')).toMatchObject({
    allow_private: true,
  });
  for (const host of ['10.0.0.7', '192.168.1.4', '[fd00::1]', 'ntfy', 'localhost.example'])
    expect(ofChannel(`{ webhook: { url: "http://${host}/x" } }`)).toBeDefined();
  ofChannel('{ email: { smtp: "smtp://localhost", from: a@example.com, to: [b@example.com] } }');
});

test.each([
  ['{}', 'must have exactly one of webhook, slack, teams, discord, pagerduty, ntfy'],
  [
    '{ slack: { url: "https://a.example" }, teams: { url: "https://b.example" } }',
    'must have exactly one of webhook, slack',
  ],
  ['{ slak: { url: "https://a.example" } }', 'slak'],
  ['{ slack: { url: "ftp://a.example" } }', 'must be an http:// or https:// address'],
  ['{ ntfy: { topic: "a b" } }', 'must have 1 to 64 letters, digits, - and _'],
  ['{ webhook: { url: "https://a.example", secret: short } }', 'must be "whsec_" and 24 to 64 bytes'],
  ['{ heartbeat: { url: "https://a.example", every: 1s } }', 'of at least 10s'],
  [
    '{ heartbeat: { url: "https://a.example" }, group_wait: 1m }',
    'notifications.ops.group_wait: "group_wait" cannot be used with "heartbeat"',
  ],
  [
    '{ slack: { url: "https://a.example" }, quiet_hours: { from: "24:00", to: "07:00" } }',
    'notifications.ops.quiet_hours.from: "from" must be a time of day such as "22:00"',
  ],
  [
    '{ slack: { url: "https://a.example" }, quiet_hours: { from: "07:00", to: "07:00" } }',
    'notifications.ops.quiet_hours.to: "to" must not be the same as "from"',
  ],
  [
    '{ slack: { url: "https://a.example" }, quiet_hours: { from: "22:00", to: "07:00", timezone: Berlin } }',
    'must be the name of a time zone such as Europe/Berlin',
  ],
  [
    '{ slack: { url: "https://a.example" }, digest: { cron: "0 9 * *" } }',
    'notifications.ops.digest.cron: "cron" must have five fields',
  ],
  [
    '{ slack: { url: "https://a.example" }, digest: { cron: "0 9 * * *" }, group_wait: 1m }',
    '"group_wait" cannot be used together with "digest"',
  ],
  [
    '{ slack: { url: "https://a.example" }, events: [account-blokced] }',
    'must be account-blocked, account-back',
  ],
  ['{ pagerduty: { routing_key: k }, group_wait: 1m }', 'cannot be used with "pagerduty"'],
  ...[
    ...['127.0.0.1:9000', 'localhost', 'LOCALHOST.', 'api.localhost', '[::1]', '2130706433', '0.0.0.0'],
    ...['169.254.169.254', '[fe80::1]', '[::ffff:169.254.169.254]', '[::]'],
  ].map((host): [string, string] => [
    `{ webhook: { url: "http://${host}/x" } }`,
    'notifications.ops.webhook.url: "url" has an address of this machine, or a link-local one. If that is meant, write "allow_private: true" beside "webhook"',
  ]),
  ['{ heartbeat: { url: "http://127.0.0.1/x" } }', 'notifications.ops.heartbeat.url'],
  ['{ ntfy: { topic: a, url: "http://localhost" }, allow_private: false }', 'notifications.ops.ntfy.url'],
  ['{ slack: { url: "https://a.example" }, repeat_interval: 10s }', 'of at least 1m'],
])('the channel %s is refused with a reason', (channel, reason) => {
  expect(errorsOf(channel).join()).toContain(reason);
});
