/** Email over real SMTP: what is sent, and what follows from each answer. */
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { Agent } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { send } from '../../src/notify/channels.ts';
import { formatTestResult } from '../../src/notify/send-test.ts';
import type { NewDelivery } from '../../src/records/delivery-store.ts';
import { sampleOf } from '../support/sample.ts';
import { activeRun, aWorld, endRun, NOON, telling } from './world.ts';

type Options = ConstructorParameters<typeof SMTPServer>[0];

/** A mail server, with the letters that it took. */
async function startMailServer(options: Options = {}) {
  const letters: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, done) {
      void text(stream).then((letter) => {
        letters.push(letter);
        done();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)));
  return { letters, port: server.server.address().port };
}

const delivery: NewDelivery = {
  id: 'msg_1',
  to: 'ops',
  event: 'run.failed',
  at: NOON,
  policy: 'nightly-sync',
  run: 'nightly-sync.1',
  link: 'https://caretaker.example/runs/nightly-sync.1?a="b"',
  message: { text: 'nightly-sync failed: <b>Grüße</b>\nA & B\r\nBcc: x@example.com' },
};

const sendTo = (port: number, login = '') =>
  send(
    delivery,
    {
      email: {
        smtp: `smtp://${login}127.0.0.1:${port}`,
        from: 'Caretaker <caretaker@example.com>',
        to: ['ops@example.com', 'boss@example.com'],
      },
    },
    { now: NOON, dispatcher: new Agent() },
  );

const failure = (responseCode: number) => Object.assign(new Error('no'), { responseCode });

test('an email has the message as plain text and as HTML, both escaped, and the same id in each attempt', async () => {
  const { letters, port } = await startMailServer();

  expect(await sendTo(port)).toEqual({ is: 'delivered' });
  expect(await sendTo(port)).toEqual({ is: 'delivered' });

  const [letter = '', again = ''] = letters;
  const head = letter.split('\r\n\r\n', 1)[0] ?? '';
  expect(head).toMatch(/^From: Caretaker <caretaker@example\.com>$/m);
  expect(head).toMatch(/^To: ops@example\.com, boss@example\.com$/m);
  expect(head).toMatch(/^Date: Sat, 21 Nov 2026 12:00:00 \+0000$/m);
  expect(head).toMatch(/^Subject: =\?UTF-8\?/m);
  expect(head).not.toMatch(/^Bcc:/m);
  expect(head).toMatch(/^Message-ID: <msg_1@caretaker\.invalid>$/m);
  expect(again).toMatch(/^Message-ID: <msg_1@caretaker\.invalid>$/m);
  const plain = letter.replace(/=\r\n/g, '');
  expect(plain).toContain('&lt;b&gt;Gr=C3=BC=C3=9Fe&lt;/b&gt;');
  expect(plain).toContain('<p>A &amp; B');
  expect(plain).toContain('href=3D"https://caretaker.example/runs/nightly-sync.1?a=3D&quot;b&quot;"');
  expect(plain).toContain('Content-Type: text/plain; charset=utf-8');
});

test.each<[string, Options, object]>([
  [
    'has no room now',
    { onRcptTo: (_address, _session, done) => done(failure(452)) },
    { is: 'failed', why: 'the mail server answered with 452' },
  ],
  [
    'refuses the recipient',
    { onRcptTo: (_address, _session, done) => done(failure(550)) },
    { is: 'rejected', why: 'the mail server answered with 550' },
  ],
  [
    'refuses the connection',
    { onConnect: (_session, done) => done(failure(421)) },
    { is: 'failed', why: 'the mail server answered with 421' },
  ],
])('a mail server that %s', async (_, options, expected) => {
  const { letters, port } = await startMailServer(options);
  expect(await sendTo(port)).toEqual(expected);
  expect(letters).toEqual([]);
});

test('an email that the mail server takes for some recipients is sent once, and it is told that others do not get it', async () => {
  const { letters, port } = await startMailServer({
    onRcptTo: ({ address }, _session, done) => done(address.startsWith('boss') ? failure(550) : undefined),
  });
  const why = 'the mail server refused 1 of 2 recipients (550)';
  const email = { smtp: `smtp://127.0.0.1:${port}`, from: 'caretaker@example.com' };
  const to = ['ops@example.com', 'boss@example.com'];
  const world = await aWorld({ ops: { name: 'ops', group_wait: 0, email: { ...email, to } } });

  const sent = await sendTo(port);
  expect(sent).toEqual({ is: 'delivered', why });
  expect(formatTestResult('ops', sent)).toBe(`"ops" has accepted a test message, but ${why}.`);

  await endRun(world, await activeRun(world, telling({ on: ['failed'], to: 'ops' })), 'failed');
  await world.notifier.deliverDue();
  expect(letters).toHaveLength(2);
  const [stored] = await world.records.deliveries.list({ limit: 1 });
  expect(stored).toMatchObject({ state: 'delivered', attempts: [{ is: 'delivered', why }] });
  expect(world.log.lines.filter((line) => line.startsWith('warn'))).toEqual([
    expect.stringContaining(`not everybody at "ops" was notified of run.failed`),
  ]);
});

test('a mail server that refuses the login is tried again, since the password may be corrected', async () => {
  const logins: unknown[] = [];
  const { port } = await startMailServer({
    authOptional: false,
    onAuth({ username, password }, _session, done) {
      logins.push([username, password]);
      done(failure(535));
    },
  });
  expect(await sendTo(port, 'ana:p%40ss@')).toMatchObject({
    is: 'failed',
    why: expect.stringContaining('535'),
  });
  expect(logins).toEqual([['ana', 'p@ss']]);
});

test('a mail server that cuts the connection, or is not there, is tried again', async () => {
  const cutting = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => cutting.listen(0, '127.0.0.1', resolve));
  const { port } = cutting.address() as AddressInfo;
  expect(await sendTo(port)).toMatchObject({ is: 'failed', why: expect.stringMatching(/mail server/) });
  await new Promise((resolve) => cutting.close(resolve));
  expect(await sendTo(port)).toEqual({ is: 'failed', why: 'the mail server cannot be reached' });
});

// It waits for as long as the mail server is given.
test.runIf(sampleOf(false, true))('a mail server that says nothing is tried again', async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  expect(await sendTo(port)).toEqual({ is: 'failed', why: 'the mail server did not answer in time' });
});
