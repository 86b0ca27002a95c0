import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk, type Started } from '../support/cli.ts';
import { clearOfTheHour } from '../support/time-of-day.ts';

let sandbox: Sandbox;
let desk: Desk;
let daemon: Started;
let url = '';
const PASSWORD = 'open-sesame-please';

beforeAll(async () => {
  await clearOfTheHour();
  sandbox = await startSandbox({
    sites: 8,
    speed: 200,
    rateLimit: 0,
    token: 'a-token',
    faults: { 'failing-tasks': 0.4 },
  });
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 'a-token' });
  desk.write('config/caretaker.yaml', `dashboard: { port: 0, password: ${PASSWORD} }\n`);
  daemon = desk.start(['daemon']);
  [url = ''] = /http:\/\/\S+/.exec(await daemon.line(/Dashboard: http/)) ?? [];
  await daemon.line(/the daemon is running/);
});
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
});

const printed = async (...args: string[]) => JSON.parse((await desk.run([...args, '--json'])).stdout);
const served = async (path: string) =>
  (await fetch(url + path, { headers: { authorization: `Bearer ${PASSWORD}` } })).json();

test("the dashboard's API returns exactly what the command line prints", async () => {
  const { run } = await printed('run', 'nightly-sync');

  expect(await served(`/api/v1/runs/${run}`)).toEqual(await printed('runs', 'show', run));
  expect(await served('/api/v1/runs')).toEqual({ runs: await printed('runs'), next: null });
  expect(await served('/api/v1/runs?policy=nightly-sync&since=7d&limit=1')).toEqual({
    runs: await printed('runs', '--policy', 'nightly-sync', '--since', '7d', '--limit', '1'),
    next: null,
  });
  expect(await served('/api/v1/policies')).toEqual({ policies: await printed('policies'), schedulers: 1 });
});

test('both show the same errors of a policy whose file is invalid', async () => {
  const file = 'config/policies/nightly-sync.yaml';
  desk.write(file, 'policies: [{ nam: nightly-sync }]\n');
  await daemon.line(/nightly-sync.yaml.*stays active/);
  let told = await printed('policies');
  // The daemon publishes its presence and the policies that it keeps active every few seconds.
  const isKept = ({ name, kept }: { name: string; kept?: unknown }) => name === 'nightly-sync' && kept;
  while (!told.some(isKept)) told = await printed('policies');

  expect(await served('/api/v1/policies')).toEqual({ policies: told, schedulers: 1 });
});
