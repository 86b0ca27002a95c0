/** `caretaker daemon` and the commands beside it, in this process. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { fastClock } from '../support/caretaker.ts';
import { type Desk, openDesk } from '../support/cli.ts';

let sandbox: Sandbox;
let desk: Desk;

beforeAll(async () => {
  const clock = fastClock(5);
  sandbox = await startSandbox({ sites: 8, rateLimit: 0, token: 'a-secret-token', clock });
  for (const id of sandbox.siteIds()) sandbox.site(id).syncTakes(1_000);
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 'a-secret-token' }, clock);
  desk.write('config/caretaker.yaml', 'dashboard: { port: 0, password: open-sesame-please }\n');
});
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
});

test('the daemon works on runs of other commands, reloads changed files, and stops on a signal', async () => {
  const daemon = desk.start(['daemon']);
  const address = await daemon.line(/Dashboard: http/);
  const [url = ''] = /http:\/\/\S+/.exec(address) ?? [];
  await daemon.line(/the daemon is running/);

  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect((await fetch(`${url}/metrics`)).status).toBe(401);
  expect((await fetch(`${url}/queues`, { redirect: 'manual' })).status).not.toBe(200);
  const metrics = await fetch(`${url}/metrics`, { headers: { authorization: 'Bearer open-sesame-please' } });
  expect(await metrics.text()).toContain('caretaker_');

  const detached = await desk.run(['run', 'nightly-sync', '--detach']);
  expect(detached.code).toBe(0);
  const id = detached.stdout.trim();
  await daemon.line(new RegExp(`a run starts.*${id}|${id}.*a run starts`));
  await daemon.line(new RegExp(`a run ended.*${id}|${id}.*a run ended`));
  expect(JSON.parse((await desk.run(['runs', 'show', id, '--json'])).stdout)).toMatchObject({
    status: 'succeeded',
  });

  desk.write('config/policies/broken.yaml', 'policies:\n  - nam: x\n');
  await daemon.line(/broken.yaml:2:5: .*; no previous version of it is known/);

  daemon.signal('SIGTERM');
  const { code, stdout, stderr } = await daemon.ended;
  expect(code).toBe(0);
  expect(stderr).toContain('stopped');
  expect(stdout + stderr).not.toContain('a-secret-token');
  expect(stdout + stderr).not.toContain('open-sesame-please');
});

test('without a terminal all output is log lines, and none contains the sign-in link', async () => {
  desk.write('config/caretaker.yaml', 'dashboard: { port: 0 }\n');
  const daemon = desk.start(['daemon']);
  await daemon.line(/the daemon is running/);
  daemon.signal('SIGTERM');
  const { stderr } = await daemon.ended;
  desk.write('config/caretaker.yaml', 'dashboard: { port: 0, password: open-sesame-please }\n');

  const lines = stderr.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).msg)).toContainEqual(
    expect.stringMatching(/^Dashboard: http:\S+ \(sign in with a link: a button/),
  );
  expect(stderr).not.toContain('key=');
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
  const shown = JSON.parse((await desk.run(['policies', 'show', 'nightly-sync', '--json'])).stdout);
  expect(shown).toMatchObject({ policy: { name: 'nightly-sync' }, kept: { error: expect.any(String) } });
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
  desk.write('config/caretaker.yaml', 'dashboard: { host: 0.0.0.0, port: 0 }\n');
  const { code, stderr } = await desk.run(['daemon']);
  expect(code).toBe(2);
  expect(stderr).toContain('dashboard.password');
});

test('caretaker dashboard prints a link that signs one browser in, once', async () => {
  desk.write('config/caretaker.yaml', 'dashboard: { port: 0 }\n');
  expect(await desk.run(['dashboard'])).toMatchObject({ code: 1, stdout: '' });
  const daemon = desk.start(['daemon']);
  await daemon.line(/the daemon is running/);

  const { code, stdout, stderr } = await desk.run(['dashboard']);
  const link = stdout.trim();
  const statuses = [];
  for (let once = 0; once < 2; once += 1) statuses.push((await fetch(link, { redirect: 'manual' })).status);

  expect({ code, statuses }).toEqual({ code: 0, statuses: [302, 401] });
  expect(stderr).toContain('The link works once');
  desk.write('config/caretaker.yaml', 'dashboard: { port: 0, password: open-sesame-please }\n');
  const withPassword = await desk.run(['dashboard']);
  expect(withPassword.stdout.trim()).toBe(new URL(link).origin);
  daemon.signal('SIGTERM');
  await daemon.ended;
});
