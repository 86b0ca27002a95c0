/** Runs every command of the README, one after the other. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk } from '../support/cli.ts';

const root = resolve(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const lines = [...readme.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
  block.split('\n').map((line) => line.replace(/\s+#.*$/, '').trim()),
);
const commands = lines.flatMap((line) => (line.startsWith('caretaker ') ? [line.split(' ').slice(1)] : []));

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

test('the scripts exist, and the command is in the folder that is added to the PATH', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const line of lines) {
    const script = /^npm run (\S+)/.exec(line)?.[1];
    if (script) expect(scripts).toHaveProperty(script);
  }
  expect(lines).toContain('export PATH="$PATH:$PWD/node_modules/.bin"');
  expect(existsSync(join(root, 'node_modules/.bin/caretaker'))).toBe(true);
  expect(readme).not.toContain('npx caretaker');
});

/** The output that shows that a long-running command is ready. */
const ready: Record<string, RegExp> = { sandbox: /^listening http/, daemon: /Dashboard: http/ };

test.each(commands.map((args) => ({ line: args.join(' '), args })))('caretaker $line', async ({ args }) => {
  const word = args[0] ?? '';
  const port = word === 'daemon' ? ['--port', '0'] : [];
  const started = desk.start([...args.map((arg) => (arg === '4010' ? '0' : arg)), ...port]);
  const sign = ready[word];
  if (sign) {
    await started.line(sign);
    started.child.kill('SIGTERM');
  }
  const { code, stderr } = await started.ended;
  // A run over a simulated fleet may end as partial.
  expect({ code, stderr }).toEqual({ code: word === 'run' ? expect.any(Number) : 0, stderr });
  expect(stderr).not.toContain('mistake of ours');
});

test('a policy file may begin with the line for editors that the README shows', () => {
  expect(readme).toContain('# yaml-language-server: $schema=../schemas/policy.json');
});
