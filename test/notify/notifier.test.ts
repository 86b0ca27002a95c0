import { createHmac, timingSafeEqual } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { createNotifier } from '../../src/notify/notifier.ts';
import type { Policy } from '../../src/policy/policy.ts';
import type { Run, RunStatus } from '../../src/run/run.ts';
import { keepSecret } from '../../src/secrets.ts';
import type { Notification } from '../../src/settings/settings.ts';
import { aPolicy, aRun } from '../support/builders.ts';
import { heldClock } from '../support/held-clock.ts';
import { keptLog } from '../support/quiet.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const NOON = Date.parse('2026-11-21T12:00:00Z');

/** A policy whose runs are told to these. */
const telling = (...notify: Policy['notify']): Policy => aPolicy({ notify });

const runOf = (status: RunStatus, changes: Partial<Run> = {}): Run =>
  aRun({
    id: 'nightly-sync.20261121T020000Z',
    policy: 'nightly-sync',
    account: 'default',
    status,
    scheduledFor: Date.parse('2026-11-21T02:00:00Z'),
    createdAt: Date.parse('2026-11-21T02:00:00.120Z'),
    finishedAt: Date.parse('2026-11-21T02:40:00Z'),
    requests: 61,
    counts: { planned: 40, succeeded: 36, failed: 3, skipped: 1, cancelled: 0 },
    ...changes,
  });

/** A notifier at noon, with these receivers by their names. */
function aNotifier(receivers: Record<string, Receiver>, secret?: string) {
  const clock = heldClock(NOON);
  const log = keptLog();
  const notifications: Record<string, Notification> = {};
  for (const [name, { url }] of Object.entries(receivers)) {
    notifications[name] = { name, webhook: { url, ...(secret === undefined ? {} : { secret }) } };
  }
  return { clock, log, notifier: createNotifier({ settings: { notifications }, clock, log }) };
}

test('whoever is named for the status of a run is told what became of it', async () => {
  const ops = await startReceiver(204);
  const { notifier, log } = aNotifier({ ops });

  await notifier.runEnded(runOf('partial'), telling({ on: ['failed', 'partial'], to: 'ops' }));

  const [letter] = ops.received;
  expect(JSON.parse(letter?.body ?? '')).toEqual({
    text: 'nightly-sync ended with failures: of 40 targets, 36 succeeded, 3 failed, and 1 was skipped.',
    run: 'nightly-sync.20261121T020000Z',
    policy: 'nightly-sync',
    job: 'site-sync',
    status: 'partial',
    trigger: 'schedule',
    scheduled_for: '2026-11-21T02:00:00.000Z',
    started_at: null,
    finished_at: '2026-11-21T02:40:00.000Z',
    requests: 61,
    requests_by_operation: {},
    counts: { planned: 40, succeeded: 36, failed: 3, skipped: 1, cancelled: 0 },
  });
  expect(letter?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-caretaker-event': 'run.partial',
    'x-caretaker-timestamp': String(NOON / 1000),
  });
  expect(letter?.headers).not.toHaveProperty('x-caretaker-signature');
  expect(log.lines.filter((line) => !line.startsWith('debug'))).toEqual([]);
});

test('nobody is told about a status that no entry names, and nobody twice', async () => {
  const [ops, boss] = [await startReceiver(), await startReceiver()];
  const { notifier } = aNotifier({ ops, boss });
  const policy = telling(
    { on: ['failed', 'blocked'], to: 'ops' },
    { on: ['blocked'], to: 'ops' },
    { on: ['failed'], to: 'boss' },
  );

  await notifier.runEnded(runOf('succeeded'), policy);
  await notifier.runEnded(runOf('blocked'), policy);

  expect(ops.received.map(({ headers }) => headers['x-caretaker-event'])).toEqual(['run.blocked']);
  expect(boss.received).toEqual([]);
});

test('a receiver that shares a secret can tell that the message is ours, whole and recent', async () => {
  const secret = 'a shared secret';
  const ops = await startReceiver();
  const { notifier } = aNotifier({ ops }, secret);

  await notifier.runEnded(runOf('failed'), telling({ on: ['failed'], to: 'ops' }));

  const [letter] = ops.received;
  const signed = `${letter?.headers['x-caretaker-timestamp']}.${letter?.body}`;
  const expected = createHmac('sha256', secret).update(signed).digest();
  const given = String(letter?.headers['x-caretaker-signature']).replace('sha256=', '');
  expect(timingSafeEqual(Buffer.from(given, 'hex'), expected)).toBe(true);
});

test('a receiver that is in trouble is tried three times, and told in the end', async () => {
  const ops = await startReceiver(500, 429, 200);
  const { notifier, clock, log } = aNotifier({ ops }, 'a shared secret');

  const told = notifier.runEnded(runOf('failed'), telling({ on: ['failed'], to: 'ops' }));
  await untilAsleep(clock);
  await clock.advance(1_000);
  await ops.untilReceived(2);
  await untilAsleep(clock);
  await clock.advance(5_000);
  await told;

  expect(ops.received).toHaveLength(3);
  const signatures = ops.received.map(({ headers }) => headers['x-caretaker-signature']);
  expect(new Set(signatures).size).toBe(3);
  expect(log.lines.filter((line) => line.startsWith('error'))).toEqual([]);
});

test.each([
  [404, 'it answered with HTTP 404'],
  [302, 'it answered with HTTP 302'],
])(
  'a receiver that answers %i is not asked again, and the log says why nobody was told',
  async (status, why) => {
    const other = await startReceiver();
    const ops = await startReceiver((response) => response.writeHead(status, { location: other.url }).end());
    const { notifier, log } = aNotifier({ ops });

    await notifier.runEnded(runOf('failed'), telling({ on: ['failed'], to: 'ops' }));

    expect(ops.received).toHaveLength(1);
    expect(other.received).toEqual([]);
    expect(log.lines).toEqual([
      expect.stringMatching(
        new RegExp(`^error "ops" was not notified about the run nightly-sync.20261121T020000Z: ${why}`),
      ),
    ]);
  },
);

test('a receiver that is not there is given up after three tries, while the others are told', async () => {
  const [gone, ops] = [await startReceiver(), await startReceiver()];
  await gone.close();
  const { notifier, clock, log } = aNotifier({ gone, ops });

  const told = notifier.runEnded(
    runOf('failed'),
    telling({ on: ['failed'], to: 'gone' }, { on: ['failed'], to: 'ops' }),
  );
  await ops.untilReceived(1);
  for (const pauseMs of [1_000, 5_000]) {
    await untilAsleep(clock);
    await clock.advance(pauseMs);
  }
  await told;

  const errors = log.lines.filter((line) => line.startsWith('error'));
  expect(errors).toEqual([expect.stringContaining('"gone" was not notified')]);
  expect(errors[0]).toContain('nothing listens there');
  expect(errors[0]).not.toContain(gone.url);
});

test('an answer that never ends is cut off and counts by its status', async () => {
  const ops = await startReceiver((response) => {
    response.writeHead(200);
    const pour = setInterval(() => response.write('x'.repeat(8 * 1024)), 1);
    response.on('close', () => clearInterval(pour));
  });
  const { notifier, log } = aNotifier({ ops });

  await notifier.runEnded(runOf('failed'), telling({ on: ['failed'], to: 'ops' }));

  expect(ops.received).toHaveLength(1);
  expect(log.lines.filter((line) => line.startsWith('error'))).toEqual([]);
});

test('a receiver that the config does not know is named in the log', async () => {
  const { notifier, log } = aNotifier({});

  await notifier.runEnded(runOf('failed'), telling({ on: ['failed'], to: 'oops' }));

  expect(log.lines[0]).toMatch(/^error "oops" was not notified .*no such name under notifications/);
});

test('no secret of this process leaves it with a message', async () => {
  const ops = await startReceiver();
  const { notifier } = aNotifier({ ops });
  keepSecret('tok-very-secret');

  await notifier.runEnded(
    runOf('failed', { detail: 'The service said: bad token tok-very-secret.' }),
    telling({ on: ['failed'], to: 'ops' }),
  );

  expect(ops.received[0]?.body).not.toContain('tok-very-secret');
  expect(ops.received[0]?.body).toContain('[hidden]');
});

/** Resolves when a pause between two tries has begun. */
const untilAsleep = (clock: ReturnType<typeof heldClock>) =>
  vi.waitFor(() => expect(clock.sleepers()).toBeGreaterThan(0), { interval: 1, timeout: 5_000 });

describe('about findings', () => {
  const change = (target: string, message: string) => ({
    target,
    label: `https://${target}.example`,
    about: 'site',
    severity: 'error' as const,
    message,
    since: Date.parse('2026-11-18T07:00:00Z'),
  });
  const both = { on: ['findings', 'recovered'], to: 'ops' };

  test('whoever asked is told which are new and which are resolved, in one message', async () => {
    const ops = await startReceiver();
    const { notifier } = aNotifier({ ops });
    const firstNew = Array.from({ length: 10 }, (_, at) => change(`a${at}`, '3 days'));
    const findings = { open: 14, new: 12, resolved: 1, firstNew, firstResolved: [change('b', '5 days')] };

    await notifier.runEnded(runOf('failed', { findings }), telling(both));

    expect(ops.received).toHaveLength(1);
    expect(ops.received[0]?.headers['x-caretaker-event']).toBe('policy.findings');
    const { text, findings: told } = JSON.parse(ops.received[0]?.body ?? '');
    expect(text.split('\n')).toEqual([
      'nightly-sync: 12 new findings, 1 resolved, 14 open.',
      ...firstNew.map(({ label }) => `New: ${label}: 3 days (since 2026-11-18 07:00Z)`),
      '... and 2 more.',
      'Resolved: https://b.example: 5 days (since 2026-11-18 07:00Z)',
    ]);
    expect(told).toMatchObject({ open: 14, new: 12, resolved: 1 });
  });

  test('nobody is told while they stay as they are, and each only of what they asked for', async () => {
    const [ops, boss] = [await startReceiver(), await startReceiver()];
    const { notifier } = aNotifier({ ops, boss });
    const policy = telling({ on: ['findings'], to: 'ops' }, { on: ['recovered'], to: 'boss' });

    await notifier.runEnded(runOf('failed', { findings: { open: 3, new: 0, resolved: 0 } }), policy);
    await notifier.runEnded(runOf('succeeded'), policy);
    expect([ops.received, boss.received]).toEqual([[], []]);

    await notifier.runEnded(runOf('failed', { findings: { open: 3, new: 1, resolved: 0 } }), policy);
    await notifier.runEnded(runOf('succeeded', { findings: { open: 0, new: 0, resolved: 3 } }), policy);

    const events = ({ received }: Receiver) => received.map(({ headers }) => headers['x-caretaker-event']);
    expect(events(ops)).toEqual(['policy.findings']);
    expect(events(boss)).toEqual(['policy.recovered']);
  });
});

test('whoever has "deadline" is told that a run is predicted to miss it', async () => {
  const [ops, boss] = [await startReceiver(204), await startReceiver(204)];
  const { notifier } = aNotifier({ ops, boss });
  const run = runOf('running', {
    dueBy: Date.parse('2026-11-21T04:00:00Z'),
    late: { at: NOON, is: 'predicted', expected: Date.parse('2026-11-21T04:30:00Z') },
  });
  const { finishedAt: _, ...going } = run;

  await notifier.deadlineMissed(
    going,
    telling({ on: ['deadline'], to: 'ops' }, { on: ['failed'], to: 'boss' }),
  );

  expect(boss.received).toEqual([]);
  expect(ops.received[0]?.headers['x-caretaker-event']).toBe('run.deadline');
  expect(JSON.parse(ops.received[0]?.body ?? '')).toMatchObject({
    text: 'nightly-sync is predicted to miss its deadline (2026-11-21 04:00Z): expected to end at 2026-11-21 04:30Z; 40 of 40 targets have ended.',
    deadline: { at: '2026-11-21T04:00:00.000Z', missed: false },
  });
});
