/** The shipped policy activity-logs on the command line, compared with the account afterwards. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk } from '../support/cli.ts';

let sandbox: Sandbox;
let desk: Desk;

beforeAll(async () => {
  sandbox = await startSandbox({ sites: 60, seed: 1, speed: 20, rateLimit: 0, token: 't' });
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 't' });
  await desk.keepRedis();
});
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
});

/** The sites without activity logs, connected ones and others. */
async function without(): Promise<{ connected: string[]; others: string[] }> {
  const response = await fetch(`${sandbox.url}/sites`, { headers: { authorization: 'Bearer t' } });
  const { sites } = (await response.json()) as {
    sites: { id: string; connection: { status: string }; activity_logs: { enabled: boolean } }[];
  };
  const off = sites.filter(({ activity_logs }) => !activity_logs.enabled);
  const [connected, others] = [true, false].map((is) =>
    off.filter(({ connection }) => (connection.status === 'connected') === is).map(({ id }) => id),
  );
  return { connected: connected?.sort() ?? [], others: others?.sort() ?? [] };
}

test('logs are enabled on every connected site, nothing else changes, and a second run finds nothing to do', async () => {
  const before = await without();
  expect(before.connected.length).toBeGreaterThan(5);
  const plan = JSON.parse((await desk.run(['plan', 'activity-logs', '--json'])).stdout);
  expect(plan.targets.map(({ id }: { id: string }) => id).sort()).toEqual(before.connected);
  expect(sandbox.journal.effects).toEqual([]);

  const { code, stdout } = await desk.run(['run', 'activity-logs', '--json']);

  const run = JSON.parse(stdout);
  expect(code).toBe(0);
  expect(run).toMatchObject({ status: 'succeeded', counts: { planned: before.connected.length, failed: 0 } });
  expect(run.targets.every(({ reason }: { reason: string }) => reason === 'done')).toBe(true);
  expect(sandbox.journal.effectsOf('enableSiteActivityLogs').sort()).toEqual(before.connected);
  expect(sandbox.journal.effects).toHaveLength(before.connected.length);
  expect(await without()).toEqual({ connected: [], others: before.others });

  const again = JSON.parse((await desk.run(['run', 'activity-logs', '--json'])).stdout);
  expect(again).toMatchObject({ status: 'succeeded', counts: { planned: 0 } });
  expect(sandbox.journal.effects).toHaveLength(before.connected.length);
});
