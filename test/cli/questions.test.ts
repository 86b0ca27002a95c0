/** Questions at a terminal: Ctrl-C ends each with 130 and one line that says what was not done. Only a process has a terminal. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk, started } from '../support/cli.ts';
import { TestIo } from '../support/io.ts';

const CTRL_C = '\u0003';
const bin = resolve(import.meta.dirname, '../../src/cli/bin.mjs');

/** `script` of util-linux gives a process a terminal. */
function hasTerminal(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
}
const withoutTerminal = !hasTerminal();

let sandbox: Sandbox;
let desk: Desk;
beforeAll(async () => {
  sandbox = await startSandbox({ sites: 2, rateLimit: 0, token: 't' });
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 't' });
  desk.write(
    'config/policies/sync.yaml',
    'policies: [{ name: sync, job: site-sync, with: { mode: all } }]\n',
  );
  await desk.keepRedis();
  expect(await desk.run(['plan', 'sync', '--out', 'sync.plan'])).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
});

/** Starts a command at a terminal; its output is standard output and standard error together. */
function atTerminal(args: readonly string[]): {
  child: ChildProcess;
  asked: (question: RegExp) => Promise<unknown>;
  ended: Promise<{ code: number | null; stdout: string }>;
} {
  const env = {
    ...process.env,
    CARETAKER_BASE_URL: sandbox.url,
    CARETAKER_API_TOKEN: 't',
    CI: '',
    NO_COLOR: '1',
  };
  const command = [process.execPath, bin, ...args].join(' ');
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: desk.folder, env });
  const { line, ended } = started(child);
  return { child, asked: line, ended };
}

test.skipIf(withoutTerminal).each([
  [['apply', 'sync.plan'], /Only "yes" applies the plan/, CTRL_C, 130, 'Nothing was applied.'],
  [['user', 'add', 'ana'], /Password:/, CTRL_C, 130, 'No hash was made.'],
])('%j, answered at %s with %j, ends with %i', async (args, question, keys, code, sentence) => {
  const { child, asked, ended } = atTerminal(args);
  await asked(question);
  child.stdin?.write(keys);

  const { stdout, ...result } = await ended;

  expect(result.code).toBe(code);
  const after = stdout
    .slice(stdout.search(question))
    .split(/\r?\n/)
    .slice(1)
    .filter((line) => /\w/.test(line));
  expect(after).toEqual([sentence]);
  expect(sandbox.journal.effects).toEqual([]);
});

test.each([
  ['no', 'no\r'],
  ['Ctrl-D', '\u0004'],
])('answered with %s, nothing is applied', async (_, input) => {
  const io = new TestIo({
    env: {
      CARETAKER_CONFIG: join(desk.folder, 'config/caretaker.yaml'),
      CARETAKER_BASE_URL: sandbox.url,
      CARETAKER_API_TOKEN: 't',
      NO_COLOR: '1',
    },
    input,
    terminals: ['stdin', 'stdout', 'stderr'],
  });
  expect(await main(['apply', join(desk.folder, 'sync.plan')], io)).toBe(1);
  expect(io.together).toMatch(/Only "yes" applies the plan[\s\S]*\nNothing was applied\.\n$/);
  expect(sandbox.journal.effects).toEqual([]);
});
