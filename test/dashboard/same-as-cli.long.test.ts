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
  sandbox = await startSandbox({ sites: 1, token: 'a-token' });
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

test("the dashboard's API returns exactly what the command line prints of policies, also while a file is invalid", async () => {
  expect(await served('/api/v1/policies')).toEqual({ policies: await printed('policies'), schedulers: 1 });

  const file = 'config/policies/nightly-sync.yaml';
  desk.write(file, 'policies: [{ nam: nightly-sync }]\n');
  await daemon.line(/nightly-sync.yaml.*stays active/);
  let told = await printed('policies');
  // The daemon publishes its presence and the policies that it keeps active every few seconds.
  const isKept = ({ name, kept }: { name: string; kept?: unknown }) => name === 'nightly-sync' && kept;
  while (!told.some(isKept)) told = await printed('policies');

  expect(await served('/api/v1/policies')).toEqual({ policies: told, schedulers: 1 });
});
