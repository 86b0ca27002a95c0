import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk } from '../support/cli.ts';

let sandbox: Sandbox;
let desk: Desk;

beforeAll(async () => {
  sandbox = await startSandbox({ sites: 8, speed: 200, rateLimit: 0, token: 'a-secret-token' });
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 'a-secret-token' });
  desk.write('config/caretaker.yaml', 'dashboard: { port: 0, password: open-sesame-please }\n');
});
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
});

test('the daemon does what it is asked from elsewhere, takes over changed files, and stops when told', async () => {
  const daemon = desk.start(['daemon']);
  const address = await daemon.line(/Dashboard: http/);
  const [url = ''] = /http:\/\/\S+/.exec(address) ?? [];
  await daemon.line(/the daemon is at work/);

  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect((await fetch(`${url}/metrics`)).status).toBe(401);
  expect((await fetch(`${url}/queues`, { redirect: 'manual' })).status).not.toBe(200);
  const metrics = await fetch(`${url}/metrics`, { headers: { authorization: 'Bearer open-sesame-please' } });
  expect(await metrics.text()).toContain('caretaker_');

  const detached = await desk.run(['run', 'nightly-sync', '--detach']);
  expect(detached.code).toBe(0);
  const id = detached.stdout.trim();
  await daemon.line(new RegExp(`a run ended.*${id}|${id}.*a run ended`));
  expect(JSON.parse((await desk.run(['runs', 'show', id, '--json'])).stdout)).toMatchObject({
    status: 'succeeded',
  });

  desk.write('config/policies/broken.yaml', 'policies:\n  - nam: x\n');
  await daemon.line(/what was in force stays in force/);

  daemon.child.kill('SIGTERM');
  const { code, stdout, stderr } = await daemon.ended;
  expect(code).toBe(0);
  expect(stderr).toContain('stopped');
  expect(stdout + stderr).not.toContain('a-secret-token');
  expect(stdout + stderr).not.toContain('open-sesame-please');
});

test('no password and an address open to others: one sentence that says what to set', async () => {
  desk.write('config/caretaker.yaml', 'dashboard: { host: 0.0.0.0, port: 0 }\n');
  const { code, stderr } = await desk.run(['daemon']);
  expect(code).toBe(2);
  expect(stderr).toContain('dashboard.password');
});
