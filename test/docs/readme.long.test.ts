/** Runs every command of the README, one after the other. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk } from '../support/cli.ts';
import { commands } from './readme-commands.ts';

let sandbox: Sandbox;
let desk: Desk;
beforeAll(async () => {
  sandbox = await startSandbox({ sites: 12, speed: 200, rateLimit: 0, token: 't' });
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 't' });
});
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
});

/** The output that shows that a long-running command is ready. */
const ready: Record<string, RegExp> = { sandbox: /^listening http/, daemon: /Dashboard: http/ };

test.each(commands)('$line', async ({ args }) => {
  const word = args[0] ?? '';
  const port = word === 'daemon' ? ['--port', '0'] : [];
  const started = desk.start([...args.map((arg) => (arg === '4010' ? '0' : arg)), ...port]);
  const sign = ready[word];
  if (sign) {
    await started.line(sign);
    started.signal('SIGTERM');
  }
  const { code, stderr } = await started.ended;
  // A run over a simulated fleet may end as partial.
  expect({ code, stderr }).toEqual({ code: word === 'run' ? expect.any(Number) : 0, stderr });
  expect(stderr).not.toContain('mistake of ours');
});
