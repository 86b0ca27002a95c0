/** Commands as processes: the build has what they load, and their exit code and both streams arrive. Only a process shows that. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk } from '../support/cli.ts';

let sandbox: Sandbox;
let desk: Desk;
beforeAll(async () => {
  sandbox = await startSandbox({ sites: 2, rateLimit: 0 });
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: sandbox.token });
  await desk.keepRedis();
});
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
});

test.each([
  {
    args: ['plan', 'nightly-sync'],
    code: 0,
    stdout: /^nightly-sync \(site-sync\) would work on /,
    stderr: '',
  },
  { args: ['runs', 'show', 'nothing'], code: 2, stdout: '', stderr: /^error: There is no run "nothing"\./ },
])('$args', async ({ args, ...expected }) => {
  const { code, stdout, stderr } = await desk.spawn(args).ended;
  expect(code).toBe(expected.code);
  expect(stdout).toMatch(expected.stdout === '' ? /^$/ : expected.stdout);
  expect(stderr).toMatch(expected.stderr === '' ? /^$/ : expected.stderr);
});
