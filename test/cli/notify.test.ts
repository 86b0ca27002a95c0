import { expect, test } from 'vitest';
import { type Receiver, startReceiver } from '../notify/receiver.ts';
import { activeRun, aProcess, endRun, letterOf, telling, webhooks } from '../notify/world.ts';
import { deliver } from '../support/deliveries.ts';
import { findIn } from '../support/findings.ts';
import { deskOfFile } from './desk-of-file.ts';

const desk = deskOfFile({});
const known = await desk.keepRedis();

/** Writes a configuration with one channel. */
const configure = ({ url }: Receiver) =>
  desk.write(
    'config/caretaker.yaml',
    `notifications: { ops: { webhook: { url: "${url}" }, allow_private: true } }\n`,
  );

test('a notification that was rejected is listed with its reason, and sent again with an act in the audit log', async () => {
  const ops = await startReceiver(404, 204);
  configure(ops);
  expect((await desk.run(['notify', 'list'])).stderr).toBe('There are no notifications yet.\n');
  const { notifier, queues, clock } = aProcess(known.redis.store as never, webhooks({ ops }));
  const policy = telling({ on: ['failed'], to: 'ops' });
  await endRun(known, await activeRun(known, policy), 'failed');
  await notifier.deliverDue();

  const listed = await desk.run(['notify', 'list', '--state', 'dead']);
  expect(listed.stdout).toMatch(
    /ops +run\.failed +nightly-sync\S* +dead +1 +msg_\S+ +it answered with HTTP 404/,
  );
  const [report] = await desk.json(['notify', 'list']);
  expect(report).toMatchObject({
    ...{ to: 'ops', event: 'run.failed', state: 'dead', policy: 'nightly-sync', next_attempt_at: null },
    attempts: [{ result: 'rejected', why: 'it answered with HTTP 404' }],
  });

  const again = await desk.run(['notify', 'resend', report.id, '--reason', 'the address was fixed']);
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining(`${report.id} is sent again`) });
  await clock.advance(Date.now() - clock.now());
  await notifier.deliverDue();
  expect(letterOf(ops, 1).headers).toMatchObject({ 'webhook-id': report.id });
  expect((await desk.json(['audit', '--what', 'notifications.resend']))[0]).toMatchObject({
    result: 'done',
    policy: 'nightly-sync',
    why: 'the address was fixed',
  });
  await queues.close();
});

test('all that were given up are sent again by one command, and an unknown one is not', async () => {
  const at = Date.now();
  const about = { event: 'run.failed', at, message: { text: 'nightly-sync failed.' } };
  const dead = { state: 'dead', attempt: { at, is: 'rejected', ms: 1 } } as const;
  for (const [id, to] of [
    ['one', 'other'],
    ['two', 'hook'],
    ['three', 'hook'],
  ])
    await deliver(known.records, { ...about, id: `msg_${id}`, to: to ?? '' }, dead);

  const { stderr } = await desk.run(['notify', 'resend', '--dead', '--to', 'hook', '--since', '1d']);

  expect(stderr.match(/msg_\w+(?= is sent again)/g)?.sort()).toEqual(['msg_three', 'msg_two']);
  expect((await desk.run(['notify', 'resend', '--dead', '--to', 'hook'])).stderr).toBe(
    'No notification that was given up matches.\n',
  );
  const wrong = ['notify resend', 'notify resend msg_one --dead', 'notify resend msg_one --to mail'];
  for (const words of wrong) expect((await desk.run(words.split(' '))).code).toBe(2);
  const { code, stderr: refusal } = await desk.run(['notify', 'resend', 'msg_unknown']);
  expect(code).toBe(2);
  expect(refusal).toMatch(/^error: There is no notification "msg_unknown"\. "caretaker notify list" shows/m);
});

test('all findings of a policy that match are acknowledged by one command', async () => {
  const found = ['a', 'b', 'shop'].map((target) => ({ target }));
  await findIn(known.records, { policy: 'many', at: Date.now() - 1_000, found });
  const acknowledge = (...words: string[]) =>
    desk.run(['findings', 'acknowledge', 'many', '--reason', 'known', ...words]);

  const none = await acknowledge();
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('or --all for all open findings') });
  const [some, all] = [await acknowledge('--search', 'shop'), await acknowledge('--all', '--for', '7d')];
  expect(some.stderr.match(/^Acknowledged/gm)).toHaveLength(1);
  expect(all.stderr.match(/^Acknowledged/gm)).toHaveLength(2);
  expect((await acknowledge('--all')).stderr).toContain('No open finding of many matches.');
  const since = await desk.run(['findings', '--policy', 'many', '--since', '1h', '--output', 'jsonl']);
  expect(since.stdout.trim().split('\n')).toHaveLength(3);
});

test('a test message shows whether a channel accepts it, and an unknown channel suggests a similar one', async () => {
  const ops = await startReceiver(204, 500);
  configure(ops);

  const accepted = await desk.run(['notify', 'test', 'ops']);
  expect(accepted).toMatchObject({ code: 0, stderr: '"ops" has accepted a test message (HTTP 204).\n' });
  expect(letterOf(ops)).toMatchObject({
    type: 'test',
    data: { text: expect.stringContaining('test message') },
  });

  const failed = await desk.run(['notify', 'test', 'ops']);
  expect(failed.code).not.toBe(0);
  expect(failed.stderr).toBe('"ops" was not notified: it answered with HTTP 500.\n');

  const unknown = await desk.run(['notify', 'test', 'opps']);
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain(
    'There is no "opps" under notifications in the configuration: did you mean ops?',
  );
});

test('doctor reports what did not arrive or waits for long, and what to do', async () => {
  const at = Date.now() - 3_600_000;
  const about = { event: 'run.failed', at, message: { text: 'nightly-sync failed.' } };
  const why = 'it answered with HTTP 404';
  const attempt = { at, is: 'rejected', ms: 12, why } as const;
  for (const id of ['msg_a', 'msg_b'])
    await deliver(known.records, { ...about, id, to: 'chat' }, { state: 'dead', attempt });
  await deliver(known.records, { ...about, id: 'msg_c', to: 'mail' });
  await deliver(known.records, { ...about, id: 'msg_d', to: 'phone', at: Date.now() });

  const checks = await desk.json<{ what: string; state: string; message: string }[]>(['doctor']);

  expect(checks.filter(({ what }) => /"(chat|mail|phone)"$/.test(what))).toEqual([
    {
      what: 'notifications to "chat"',
      state: 'warning',
      message:
        '2 notifications did not arrive (of the last one: it answered with HTTP 404). Correct the receiver, try it with "caretaker notify test chat", then "caretaker notify resend --dead --to chat"',
    },
    {
      what: 'notifications to "mail"',
      state: 'warning',
      message: expect.stringMatching(
        /^1 notification waits, the oldest since .*Z\. Each is tried for a day .*--state pending --to mail/,
      ),
    },
  ]);
});
