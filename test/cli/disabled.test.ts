/** A policy with `schedule.enabled: false`: no command shows a next scheduled time. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk } from '../support/cli.ts';

let sandbox: Sandbox;
let desk: Desk;

beforeAll(async () => {
  sandbox = await startSandbox({ sites: 3, rateLimit: 0 });
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: sandbox.token });
  await desk.keepRedis();
  const policy = (name: string, more: string) =>
    `  - name: ${name}\n    job: site-sync\n    schedule: { cron: "0 3 * * *"${more} }\n`;
  desk.write(
    'config/policies/mine.yaml',
    `policies:\n${policy('switched-off', ', enabled: false')}${policy('daily', '')}`,
  );
});
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
});

const printed = async (...args: string[]) => JSON.parse((await desk.run([...args, '--json'])).stdout);
const named = <T extends { name: string }>(all: T[], name: string) => all.find((one) => one.name === name);

test('the list of policies shows no next time, and that the schedule is disabled', async () => {
  const policies = await printed('policies');

  expect(named(policies, 'switched-off')).toMatchObject({ enabled: false, next: null });
  expect(named(policies, 'daily')).toMatchObject({ enabled: true, next: expect.stringMatching(/T03:00/) });
  const { stdout } = await desk.run(['policies']);
  expect(stdout).toMatch(/^switched-off .* disabled \(schedule\.enabled: false\)/m);
});

test('policies show prints no next time, and why', async () => {
  expect((await printed('policies', 'show', 'switched-off')).next).toEqual([]);
  const { stdout } = await desk.run(['policies', 'show', 'switched-off']);
  expect(stdout).toContain('# next: disabled (schedule.enabled: false)');
});

test('upcoming times are listed as skipped, and why explains that', async () => {
  const coming = await printed('next', 'switched-off', '--until', '1d');
  expect(coming).toMatchObject([{ skipped: { why: 'disabled', note: 'schedule.enabled: false' } }]);

  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const { stdout } = await desk.run(['why', 'switched-off', tomorrow]);
  expect(stdout).toContain('will be skipped unless this changes: disabled (schedule.enabled: false)');
});

test('the budget forecast counts no requests for it', async () => {
  const [account] = (await printed('budget')).accounts;

  const names = account.next_24_hours.policies.map(({ policy }: { policy: string }) => policy);
  expect(names).toContain('daily');
  expect(names).not.toContain('switched-off');
});

test('the budget forecast counts no requests for times during a freeze', async () => {
  await desk.run(['freeze', 'add', '--for', '3d', '--reason', 'the sale']);

  const [account] = (await printed('budget')).accounts;

  expect(account.next_24_hours.policies).toEqual([]);
  await desk.run(['freeze', 'end']);
});

test('resuming it does not claim that it runs again', async () => {
  await desk.run(['policies', 'pause', 'switched-off']);

  const { stderr } = await desk.run(['policies', 'resume', 'switched-off']);

  expect(stderr).toContain('switched-off is no longer paused');
  expect(stderr).toContain('Its schedule stays disabled (schedule.enabled: false).');
});
