/** `caretaker budget`: who uses the account's requests, and what the schedules will cost. */
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { sandboxOfFile } from './desk-of-file.ts';

const { sandbox, desk } = await sandboxOfFile({ sites: 30, seed: 1, speed: 60, rateLimit: 200 });
const sync = (name: string, cron: string) =>
  `  - name: ${name}\n    job: site-sync\n    schedule: { cron: "${cron}" }\n`;
desk.write(
  'config/policies/mine.yaml',
  `policies:\n${sync('once-a-day', '0 3 * * *')}${sync('all-the-time', '* * * * *')}    timeout: { run: 1m, target: 1m }\n  - { name: next-in-line, job: site-sync, schedule: { after: { policy: once-a-day } } }\n  - { name: on-failure, job: site-sync, schedule: { after: { policy: once-a-day, status: [failed] } } }\n`,
);

test('it shows the window, other clients, and the policies for which the budget is too small', async () => {
  sandbox.account.useUpRequests(63);
  const { code, stdout } = await desk.run(['budget']);

  expect(code).toBe(0);
  expect(stdout).toContain('default: 200 requests per minute, 20 of them reserved for other clients');
  expect(stdout).toMatch(/Current window: 1[0-3]\d requests left, ends in /);
  expect(stdout).toContain('other clients: 63 requests/min');
  expect(stdout).toMatch(/^ +\d+ by \S+ \(pid \d+\)$/m);
  expect(stdout).toMatch(/once-a-day +1 +\d+ +estimate/);
  expect(stdout).toMatch(/all-the-time +1440 +\d+ +estimate/);
  // It runs once for each successful run of once-a-day; a policy that follows failures is not expected to run.
  expect(stdout).toMatch(/next-in-line +1 +\d+ +estimate/);
  expect(stdout).not.toContain('on-failure');
});

test('where nothing listens, it shows what was estimated before, as the page does', async () => {
  const budgetOf = async (env = {}) => {
    const [account] = (await desk.json(['budget'], env)).accounts;
    const costs = account.next_24_hours.policies.map(
      ({ policy, requests_a_run, known_from }: Record<string, unknown>) =>
        [policy, known_from, requests_a_run] as const,
    );
    return { costs, unasked: account.unasked };
  };
  const { costs } = await budgetOf();
  expect(costs[0]).toEqual(['once-a-day', 'estimate', expect.any(Number)]);

  const silent = await startSandbox({ sites: 1 });
  await silent.stop();
  expect(await budgetOf({ CARETAKER_BASE_URL: silent.url })).toEqual({
    costs,
    unasked: expect.stringContaining('connection refused'),
  });
});

test('the forecast is based on the cost of past runs', async () => {
  await desk.run(['run', 'once-a-day']);
  const [account] = (await desk.json(['budget'])).accounts;
  const sum = (counts: Record<string, number>) =>
    Object.values(counts).reduce((all, count) => all + count, 0);
  expect(sum(account.window.by_class)).toBeGreaterThan(0);
  expect(sum(account.window.by_process)).toBe(sum(account.window.by_class));
  const daily = account.next_24_hours.policies.find(
    ({ policy }: { policy: string }) => policy === 'once-a-day',
  );
  expect(daily).toMatchObject({ firings: 1, known_from: 'past runs', warning: null });
  expect(daily.requests_a_run).toBeGreaterThan(10);
});

test('with another address it shows nothing of the account; there it warns of a policy that needs more than it has', async () => {
  const bigger = await startSandbox({ sites: 400, seed: 1, speed: 60, rateLimit: 100 });
  onTestFinished(() => bigger.stop());
  const there = { CARETAKER_BASE_URL: bigger.url };
  const refused = await desk.run(['budget'], there);
  expect(refused.code).toBe(2);
  expect(refused.stdout).toBe('');
  expect(refused.stderr).toContain('[ACCOUNT_MOVED]');

  await desk.run(['accounts', 'move', 'default', '--yes'], there);
  const { stdout } = await desk.run(['budget'], there);

  expect(stdout).toContain(
    'warning: The budget is too small for all-the-time. Its runs would exceed timeout.run.',
  );
});
