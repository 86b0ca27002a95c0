/** Quiet hours and digests: until when a message is held. */
import { expect, test } from 'vitest';
import { endOfQuiet, heldBy } from '../../src/notify/wanted.ts';
import type { Receiver } from '../../src/settings/receiver.ts';
import { startReceiver } from './receiver.ts';
import { activeRun, aWorld, endRun, letterOf, NOON, telling, toldTo, webhooks } from './world.ts';

const at = (text: string) => Date.parse(text);
const night = { from: '22:00', to: '07:00', timezone: 'Europe/Berlin', except: [] };
const message = (event: string) => ({ event, message: { text: '' } });

test.each([
  ['2026-11-20T20:59:00Z', undefined],
  ['2026-11-20T21:00:00Z', '2026-11-21T06:00:00Z'],
  ['2026-11-21T05:59:59Z', '2026-11-21T06:00:00Z'],
  ['2026-11-21T06:00:00Z', undefined],
  // The clocks change in this night: it has an hour more.
  ['2026-10-24T23:30:00Z', '2026-10-25T06:00:00Z'],
  ['2026-03-29T00:30:00Z', '2026-03-29T05:00:00Z'],
])('the quiet hours of Berlin at %s end at %s', (now, end) => {
  expect(endOfQuiet(night, at(now))).toBe(end && at(end));
});

test('quiet hours by day begin on the days that are named', () => {
  const noon = { from: '12:00', to: '13:00', timezone: 'UTC', days: ['saturday' as const], except: [] };
  expect(endOfQuiet(noon, at('2026-11-21T12:30:00Z'))).toBe(at('2026-11-21T13:00:00Z'));
  expect(endOfQuiet(noon, at('2026-11-20T12:30:00Z'))).toBeUndefined();
  const weekend = { ...noon, from: '18:00', to: '08:00' };
  expect(endOfQuiet(weekend, at('2026-11-22T07:00:00Z'))).toBe(at('2026-11-22T08:00:00Z'));
  expect(endOfQuiet(weekend, at('2026-11-22T19:00:00Z'))).toBeUndefined();
});

test('severities and words that are excepted are not held, and PagerDuty gets everything', () => {
  const now = at('2026-11-20T23:00:00Z');
  const chat: Receiver = {
    slack: { url: 'https://a.example' },
    group_wait: 0,
    quiet_hours: { ...night, except: ['error', 'approval-wanted'] },
  };
  const held = { kind: 'quiet', due: at('2026-11-21T06:00:00Z') };
  expect(heldBy(chat, message('run.partial'), now)).toEqual(held);
  expect(heldBy(chat, message('run.failed'), now)).toBeUndefined();
  expect(heldBy(chat, message('run.approval-wanted'), now)).toBeUndefined();
  expect(heldBy(chat, message('run.approval-expired'), now)).toBeUndefined();
  const digest = { cron: '0 9 * * mon-fri', timezone: 'Europe/Berlin' };
  expect(heldBy({ slack: { url: 'https://a.example' }, digest }, message('run.failed'), now)).toEqual({
    kind: 'digest',
    due: at('2026-11-23T08:00:00Z'),
  });
  expect(heldBy({ pagerduty: { url: '', routing_key: '' } }, message('run.failed'), now)).toBeUndefined();
});

test('what happened in quiet hours is one message when they end, whichever process is there', async () => {
  const ops = await startReceiver();
  const rules = { quiet_hours: { from: '11:00', to: '13:00', timezone: 'UTC', except: [] } };
  const world = await aWorld(webhooks({ ops }, undefined, rules));
  const policies = ['a', 'b'].map((name) => ({
    ...telling({ on: ['failed', 'recovered'], to: 'ops' }),
    name,
  }));
  for (const policy of policies)
    await endRun(world, await activeRun(world, policy, { id: policy.name }), 'failed');
  await world.notifier.deliverDue();
  await world.clock.advance(3_599_000);
  await world.another().notifier.deliverDue();
  expect(ops.received).toEqual([]);

  await world.clock.advance(1_000);
  const other = world.another();
  await Promise.all([world.notifier.tick(), other.notifier.tick()]);
  await world.notifier.deliverDue();
  await other.queues.close();

  expect(toldTo(ops)).toEqual(['summary']);
  const [title, first] = letterOf(ops).data.text.split('\n');
  expect(title).toBe('2 notifications: a failed and b failed');
  expect(first).toMatch(/^- 2026-11-21 12:00Z a failed: /);
  expect(letterOf(ops).timestamp).toBe(new Date(NOON).toISOString());
});

test('a digest that is made more frequent does not wait for its former time', async () => {
  const ops = await startReceiver();
  const digest = (cron: string) => webhooks({ ops }, undefined, { digest: { cron, timezone: 'UTC' } });
  const monthly = await aWorld(digest('0 9 1 * *'));
  const daily = monthly.another(digest('0 9 * * *'));
  const fail = async (id: string) =>
    endRun(
      monthly,
      await activeRun(monthly, { ...telling({ on: ['failed'], to: 'ops' }), name: id }, { id }),
      'failed',
    );
  await fail('a');
  await monthly.notifier.tick();
  await fail('b');
  await daily.notifier.tick();

  await monthly.clock.advance(21 * 3_600_000);
  await daily.notifier.deliverDue();
  await daily.queues.close();

  expect(ops.received).toHaveLength(1);
  expect(letterOf(ops).data.text).toMatch(/^2 notifications: a failed and b failed\n/);
});
