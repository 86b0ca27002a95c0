import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { keepSecret } from '../../src/secrets.ts';
import { aTarget } from '../support/builders.ts';
import { type Received, type Receiver, startReceiver } from './receiver.ts';
import { activeRun, aWorld, endRun, letterOf, NOON, telling, toldTo, webhooks } from './world.ts';

const secret = `whsec_${Buffer.from('a key of twenty-four bytes').toString('base64')}`;

/** A run of a policy that notifies these has ended. */
async function ended(
  receivers: Record<string, Receiver>,
  policy: ReturnType<typeof telling>,
  status: 'failed' | 'partial' = 'failed',
) {
  const world = await aWorld(webhooks(receivers));
  await endRun(world, await activeRun(world, policy), status);
  return world;
}

const toOps = telling({ on: ['failed', 'partial'], to: 'ops' });

test('a receiver that is named for the status of a run is notified of what became of it', async () => {
  const ops = await startReceiver(204);
  const { notifier, log } = await ended({ ops }, toOps, 'partial');

  await notifier.deliverDue();

  expect(letterOf(ops)).toMatchObject({
    type: 'run.partial',
    timestamp: '2026-11-21T12:00:00.000Z',
    headers: {
      'content-type': 'application/json',
      'webhook-id': expect.stringMatching(/^msg_[\w-]{27}$/),
      'webhook-timestamp': String(NOON / 1000),
    },
  });
  expect(letterOf(ops).data).toEqual({
    text: 'nightly-sync ended with failures: of 40 targets, 36 succeeded, 3 failed, and 1 was skipped.',
    run: 'nightly-sync.20261121T020000Z',
    policy: 'nightly-sync',
    job: 'site-sync',
    account: 'default',
    status: 'partial',
    trigger: 'schedule',
    scheduled_for: '2026-11-21T02:00:00.000Z',
    created_at: '2026-11-21T02:00:00.120Z',
    started_at: null,
    finished_at: '2026-11-21T12:00:00.000Z',
    plan_complete: false,
    requests: 61,
    requests_by_operation: {},
    counts: { planned: 40, succeeded: 36, failed: 3, skipped: 1, cancelled: 0 },
    streak: { runs: 1, since: '2026-11-21T12:00:00.000Z' },
  });
  expect(letterOf(ops).headers).not.toHaveProperty('webhook-signature');
  expect(log.lines.filter((line) => !line.startsWith('debug'))).toEqual([]);
});

test('nobody is told about a status that no entry names, and nobody twice', async () => {
  const [ops, boss] = [await startReceiver(), await startReceiver()];
  const world = await aWorld(webhooks({ ops, boss }));
  const policy = telling(
    { on: ['failed', 'blocked'], to: 'ops' },
    { on: ['blocked'], to: 'ops' },
    { on: ['failed'], to: 'boss' },
  );
  await endRun(world, await activeRun(world, policy, { id: 'one' }), 'succeeded');
  await endRun(world, await activeRun(world, policy, { id: 'two' }), 'blocked', 'The account refuses us.');

  await world.notifier.deliverDue();

  expect(toldTo(ops)).toEqual(['run.blocked']);
  expect(boss.received).toEqual([]);
});

test('a blocked run is told as it was when it was blocked, though it has ended meanwhile', async () => {
  const ops = await startReceiver();
  const world = await aWorld(webhooks({ ops }));
  const run = await activeRun(world, telling({ on: ['blocked'], to: 'ops' }));
  await endRun(world, run, 'blocked', 'The account refuses us (HTTP 401).');
  await world.records.runs.move(run, 'cancelled', { at: NOON, detail: 'It was cancelled.' });

  await world.notifier.deliverDue();

  expect(letterOf(ops).data).toMatchObject({ status: 'blocked' });
  expect(letterOf(ops).data.text).toContain('is blocked because the account refuses access');
  expect(letterOf(ops).data.text).toContain('The account refuses us (HTTP 401)');
});

test('a receiver that shares a secret can tell that the message is ours, whole and recent', async () => {
  const ops = await startReceiver();
  const world = await aWorld(webhooks({ ops }, secret));
  await endRun(world, await activeRun(world, toOps), 'failed');

  await world.notifier.deliverDue();

  const { headers, body } = ops.received[0] as Received;
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const key = Buffer.from('a key of twenty-four bytes');
  const expected = createHmac('sha256', key).update(signed).digest('base64');
  expect(headers['webhook-signature']).toBe(`v1,${expected}`);
});

test.each([
  [404, 'it answered with HTTP 404'],
  [302, 'it answered with HTTP 302'],
])(
  'a receiver that answers %i is not asked again, and the log says why nobody was told and what to do',
  async (status, why) => {
    const other = await startReceiver();
    const ops = await startReceiver((response) => response.writeHead(status, { location: other.url }).end());
    const { notifier, records, clock, log } = await ended({ ops }, toOps);

    await notifier.deliverDue();
    await clock.advance(86_400_000);
    await notifier.deliverDue();

    expect(ops.received).toHaveLength(1);
    expect(other.received).toEqual([]);
    const [dead] = await records.deliveries.list({ limit: 10 });
    expect(dead).toMatchObject({ state: 'dead', to: 'ops', attempts: [{ at: NOON, is: 'rejected', why }] });
    expect(log.lines.filter((line) => line.startsWith('error'))).toEqual([
      expect.stringMatching(
        `^error "ops" was not notified of run.failed \\(nightly-sync.20261121T020000Z\\): ${why}. .*caretaker notify resend ${dead?.id}`,
      ),
    ]);
  },
);

test('a receiver that is not there is tried again, while the others are told', async () => {
  const [gone, ops] = [await startReceiver(), await startReceiver()];
  await gone.close();
  const { notifier, log } = await ended(
    { gone, ops },
    telling({ on: ['failed'], to: 'gone' }, { on: ['failed'], to: 'ops' }),
  );

  await notifier.deliverDue();

  expect(ops.received).toHaveLength(1);
  const warnings = log.lines.filter((line) => line.startsWith('warn'));
  expect(warnings).toEqual([expect.stringContaining('"gone" was not notified')]);
  expect(warnings[0]).toContain('nothing listens there');
  expect(warnings[0]).not.toContain(gone.url);
});

test('an answer that never ends is cut off and counts by its status', async () => {
  const ops = await startReceiver((response) => {
    response.writeHead(200);
    const pour = setInterval(() => response.write('x'.repeat(8 * 1024)), 1);
    response.on('close', () => clearInterval(pour));
  });
  const { notifier, records } = await ended({ ops }, toOps);

  await notifier.deliverDue();

  expect(ops.received).toHaveLength(1);
  expect(await records.deliveries.list({ limit: 10 })).toMatchObject([{ state: 'delivered' }]);
});

test('a receiver that the config does not know is named in the log, and notified once it is known', async () => {
  const ops = await startReceiver();
  const world = await ended({}, toOps);

  await world.notifier.deliverDue();
  expect(world.log.lines.join()).toMatch(/warn "ops" was not notified .*no such name under notifications/);
  await world.clock.advance(5_000);
  await world.another(webhooks({ ops })).notifier.deliverDue();

  expect(ops.received).toHaveLength(1);
});

test('no secret of this process leaves it with a message, and none is stored', async () => {
  const ops = await startReceiver();
  const world = await aWorld(webhooks({ ops }));
  keepSecret('tok-very-secret');
  const detail = 'The service said: bad token tok-very-secret.';
  await endRun(world, await activeRun(world, toOps), 'failed', detail);

  await world.notifier.deliverDue();

  expect(ops.received[0]?.body).toContain('[hidden]');
  const [{ id = '' } = {}] = await world.records.deliveries.list({ limit: 1 });
  const stored = await world.redis.hgetall(`{caretaker}:delivery:${id}`);
  for (const text of [ops.received[0]?.body, JSON.stringify(stored)])
    expect(text).not.toContain('tok-very-secret');
});

test('what is delivered by the queue of a working process arrives once, however many work', async () => {
  const ops = await startReceiver();
  const world = await ended({ ops }, toOps);
  const other = world.another();
  const working = [world.notifier.work(), other.notifier.work()];

  await ops.untilReceived(1);
  await world.clock.advance(3_000);
  await Promise.all(working.map((one) => one.stop()));
  await other.queues.close();

  expect(ops.received).toHaveLength(1);
  expect(await world.records.deliveries.list({ limit: 10 })).toMatchObject([
    { state: 'delivered', tries: 1, attempts: [{ is: 'delivered' }] },
  ]);
  expect(await world.records.notices.open(10)).toEqual([]);
});

test('notices that this release cannot read hide no later one, and are dropped after a week', async () => {
  const ops = await startReceiver();
  const world = await aWorld(webhooks({ ops }));
  const { records, redis, notifier } = world;
  const newer = Array.from({ length: 150 }, (_, at) => [
    NOON - 86_400_000,
    `{"type":"of-tomorrow","at":${at}}`,
  ]);
  await redis.zadd('{caretaker}:notices', ...newer.flat());
  await endRun(world, await activeRun(world, toOps, { id: 'one' }), 'failed');

  await notifier.deliverDue();
  expect(toldTo(ops)).toEqual(['run.failed']);
  expect(await records.notices.open(200)).toHaveLength(150);

  const run = await activeRun(world, toOps, { id: 'a-week-later' });
  const at = NOON + 7 * 86_400_000;
  await records.runs.move(run, 'failed', { at, notice: { type: 'run', run: run.id, status: 'failed', at } });
  expect(await records.notices.open(200)).toHaveLength(1);
});

test('a message about failures names the first ten targets with their reasons', async () => {
  const ops = await startReceiver();
  const world = await aWorld(webhooks({ ops }));
  const { plans, runs } = world.records;
  const counts = { planned: 0, succeeded: 0, failed: 0, skipped: 0, cancelled: 0 };
  const run = await activeRun(world, toOps, { status: 'planning', counts });
  const end = { state: 'ended', outcome: 'failed', reason: 'task-failed', detail: 'It was away.' } as const;
  const failed = Array.from({ length: 12 }, (_, at) => aTarget(`site-${at}`, end));
  await plans.add(run.id, await plans.begin(run.id), [aTarget('fine', { state: 'ended' }), ...failed]);
  await runs.move(run, 'running', { at: NOON, planComplete: true });
  await endRun(world, run, 'partial');

  await world.notifier.deliverDue();

  const { text, ...report } = letterOf(ops).data;
  expect(text.split('\n').slice(1)).toEqual([
    ...failed.slice(0, 10).map(({ label }) => `${label}: task-failed: It was away.`),
    '... and 2 more failed targets.',
  ]);
  const named = failed.slice(0, 10).map(({ id }) => ({ target: id, reason: 'task-failed' }));
  expect(report).toMatchObject({ failed_targets: named });
});
