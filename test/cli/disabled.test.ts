/** A policy with `schedule.enabled: false`: no command shows a next scheduled time. */
import { expect, test } from 'vitest';
import { sandboxOfFile } from './desk-of-file.ts';

const { desk } = await sandboxOfFile({ sites: 3 });
const policy = (name: string, more: string) =>
  `  - name: ${name}\n    job: site-sync\n    schedule: { cron: "0 3 * * *"${more} }\n`;
desk.write(
  'config/policies/mine.yaml',
  `policies:\n${policy('switched-off', ', enabled: false')}${policy('daily', '')}`,
);

const named = <T extends { name: string }>(all: T[], name: string) => all.find((one) => one.name === name);

test('the list of policies shows no next time, and that the schedule is disabled', async () => {
  const policies = await desk.json(['policies']);

  expect(named(policies, 'switched-off')).toMatchObject({ enabled: false, next: null });
  expect(named(policies, 'daily')).toMatchObject({ enabled: true, next: expect.stringMatching(/T03:00/) });
  const { stdout } = await desk.run(['policies']);
  expect(stdout).toMatch(/^switched-off .* disabled \(schedule\.enabled: false\)/m);
});

test('policies show prints no next time, and why', async () => {
  expect((await desk.json(['policies', 'show', 'switched-off'])).next).toEqual([]);
  const { stdout } = await desk.run(['policies', 'show', 'switched-off']);
  expect(stdout).toContain('# next: disabled (schedule.enabled: false)');
});

test('upcoming times are listed as skipped, and why explains that', async () => {
  const coming = await desk.json(['next', 'switched-off', '--until', '1d']);
  expect(coming).toMatchObject([{ skipped: { why: 'disabled', note: 'schedule.enabled: false' } }]);

  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const { stdout } = await desk.run(['why', 'switched-off', tomorrow]);
  expect(stdout).toContain('will be skipped unless this changes: disabled (schedule.enabled: false)');
});

test('the budget forecast counts no requests for it, nor for times during a freeze', async () => {
  const forecast = async () => {
    const [account] = (await desk.json(['budget'])).accounts;
    return account.next_24_hours.policies.map(({ policy }: { policy: string }) => policy);
  };
  const names = await forecast();
  expect(names).toContain('daily');
  expect(names).not.toContain('switched-off');

  await desk.run(['freeze', 'add', '--for', '3d']);
  expect(await forecast()).toEqual([]);
  await desk.run(['freeze', 'end']);
});

test('resuming it does not claim that it runs again', async () => {
  await desk.run(['policies', 'pause', 'switched-off']);

  const { stderr } = await desk.run(['policies', 'resume', 'switched-off']);

  expect(stderr).toContain('switched-off is no longer paused');
  expect(stderr).toContain('Its schedule stays disabled (schedule.enabled: false).');
});
