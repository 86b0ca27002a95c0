/** `caretaker daemon` and the commands beside it, in this process. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { fastClock } from '../support/caretaker.ts';
import { sandboxOfFile } from './desk-of-file.ts';

const [TOKEN, PASSWORD] = ['a-secret-token', 'open-sesame-please'];
const { desk } = await sandboxOfFile({ sites: 8, clock: fastClock(5), token: TOKEN, keepsRedis: false });
const configure = (dashboard: string) => desk.write('config/caretaker.yaml', `dashboard: { ${dashboard} }\n`);
const withPassword = `port: 0, password: ${PASSWORD}`;
beforeEach(() => configure(withPassword));

test('the daemon works on runs of other commands, reloads changed files, and stops on a signal', async () => {
  const daemon = desk.start(['daemon']);
  const address = await daemon.line(/Dashboard: http/);
  const [url = ''] = /http:\/\/\S+/.exec(address) ?? [];
  await daemon.line(/the daemon is running/);

  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect((await fetch(`${url}/metrics`)).status).toBe(401);
  expect((await fetch(`${url}/queues`, { redirect: 'manual' })).status).not.toBe(200);
  const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${PASSWORD}` } });
  expect(await metrics.text()).toContain('caretaker_');

  const detached = await desk.run(['run', 'nightly-sync', '--detach']);
  expect(detached.code).toBe(0);
  const id = detached.stdout.trim();
  await daemon.line(new RegExp(`a run starts.*${id}|${id}.*a run starts`));
  await daemon.line(new RegExp(`a run ended.*${id}|${id}.*a run ended`));
  expect(await desk.json(['runs', 'show', id])).toMatchObject({ status: 'succeeded' });

  desk.write('config/policies/broken.yaml', 'policies:\n  - nam: x\n');
  await daemon.line(/broken.yaml:2:5: .*; no previous version of it is known/);

  daemon.signal('SIGTERM');
  const { code, stdout, stderr } = await daemon.ended;
  expect(code).toBe(0);
  expect(stderr).toContain('stopped');
  expect(stdout + stderr).not.toContain(TOKEN);
  expect(stdout + stderr).not.toContain(PASSWORD);
});

test('while a file has errors, every command shows which of its policies the daemon keeps active', async () => {
  const daemon = desk.start(['daemon']);
  await daemon.line(/the daemon is running; its Redis: embedded in .*\.caretaker/);
  const good = readFileSync(join(desk.folder, 'config/policies/nightly-sync.yaml'), 'utf8');
  desk.write('config/policies/nightly-sync.yaml', '# emptied\n');
  await daemon.line(/The file holds no policy; the previous version stays active: nightly-sync/);

  const listed = await keptByNow();
  expect(listed.stderr).toMatch(
    /nightly-sync\.yaml has had errors since \S+ \S+Z \(1:1: The file holds no policy\); the daemon continues to use the previous version of nightly-sync \(read at \S+ \S+Z\)\./,
  );
  expect(listed.stdout).toContain('nightly-sync (kept active: its file has errors)');
  expect(await desk.json(['policies', 'show', 'nightly-sync'])).toMatchObject({
    policy: { name: 'nightly-sync' },
    kept: { error: expect.any(String) },
  });
  const run = await desk.run(['run', 'nightly-sync', '--detach']);
  expect(run.code).toBe(2);
  expect(run.stderr).toContain('The daemon continues to use the previous version, read at ');
  // It is still active, so it can be paused.
  expect((await desk.run(['policies', 'pause', 'nightly-sync'])).code).toBe(0);
  expect((await desk.run(['policies', 'resume', 'nightly-sync'])).code).toBe(0);

  desk.write('config/policies/nightly-sync.yaml', good);
  await daemon.line(/nightly-sync\.yaml has no errors now/);
  daemon.signal('SIGTERM');
  await daemon.ended;
});

/** The output of `caretaker policies` once the daemon has published what it keeps, which it does every five seconds. */
async function keptByNow() {
  for (;;) {
    const listed = await desk.run(['policies']);
    if (listed.stdout.includes('kept')) return listed;
  }
}

test('a second daemon reports the first one and what to do, and can share the work', async () => {
  const first = desk.start(['daemon']);
  const [, port = ''] = /127\.0\.0\.1:(\d+)/.exec(await first.line(/Dashboard: http/)) ?? [];
  await first.line(/the daemon is running/);

  const second = await desk.run(['daemon', '--port', port]);
  expect(second.code).toBe(2);
  expect(second.stderr).toMatch(
    new RegExp(
      `error: A daemon runs here already \\(process ${process.pid}, since \\S+ \\S+Z\\) and serves the dashboard on port ${port}\\. To share its work, start this one with --roles scheduler,worker; for a second dashboard, add --port\\.`,
    ),
  );

  const helper = desk.start(['daemon', '--roles', 'scheduler,worker']);
  await helper.line(/the daemon is running/);
  for (const { signal, ended } of [helper, first]) {
    signal('SIGTERM');
    expect((await ended).code).toBe(0);
  }
});

test('without a password on an address that others can reach, the daemon names the key to set', async () => {
  configure('host: 0.0.0.0, port: 0');
  const { code, stderr } = await desk.run(['daemon']);
  expect(code).toBe(2);
  expect(stderr).toContain('dashboard.password');
});

test('the sign-in link is in no line of the log; "caretaker dashboard" prints one, which signs one browser in, once', async () => {
  configure('port: 0');
  expect(await desk.run(['dashboard'])).toMatchObject({ code: 1, stdout: '' });
  const daemon = desk.start(['daemon']);
  await daemon.line(/the daemon is running/);

  const { code, stdout, stderr } = await desk.run(['dashboard']);
  const link = stdout.trim();
  const statuses = [];
  for (let once = 0; once < 2; once += 1) statuses.push((await fetch(link, { redirect: 'manual' })).status);

  expect({ code, statuses }).toEqual({ code: 0, statuses: [302, 401] });
  expect(stderr).toContain('The link works once');
  configure(withPassword);
  expect((await desk.run(['dashboard'])).stdout.trim()).toBe(new URL(link).origin);
  daemon.signal('SIGTERM');
  const log = (await daemon.ended).stderr;
  const lines = log.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).msg)).toContainEqual(
    expect.stringMatching(/^Dashboard: http:\S+ \(sign in with a link: a button/),
  );
  expect(log).not.toContain('key=');
});
