/** Questions at a terminal: Ctrl-C ends each with 130 and one line that says what was not done. Only a process has a terminal. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { started } from '../support/cli.ts';
import { TestIo } from '../support/io.ts';
import { sandboxOfFile } from './desk-of-file.ts';

const CTRL_C = '\u0003';
const bin = resolve(import.meta.dirname, '../../src/cli/bin.cjs');

/** `script` of util-linux gives a process a terminal. */
function hasTerminal(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
}
const withoutTerminal = !hasTerminal();

const { sandbox, desk } = await sandboxOfFile({ sites: 2 });
desk.write('config/policies/sync.yaml', 'policies: [{ name: sync, job: site-sync, with: { mode: all } }]\n');
beforeAll(async () => {
  expect(await desk.run(['plan', 'sync', '--out', 'sync.plan'])).toMatchObject({ code: 0 });
});
const account = { CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: sandbox.token, NO_COLOR: '1' };

/** Starts a command at a terminal; its output is standard output and standard error together. */
function atTerminal(args: readonly string[]): {
  child: ChildProcess;
  asked: (question: RegExp) => Promise<unknown>;
  ended: Promise<{ code: number | null; stdout: string }>;
} {
  const env = { ...process.env, ...account, CI: '' };
  const command = [process.execPath, bin, ...args].join(' ');
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: desk.folder, env });
  const { line, ended } = started(child);
  return { child, asked: line, ended };
}

test.skipIf(withoutTerminal).each([
  [['apply', 'sync.plan'], /Only "yes" applies the plan/, 'Nothing was applied.'],
  [['user', 'add', 'ana'], /Password:/, 'No hash was made.'],
])('%j, answered at %s with Ctrl-C, ends with 130', async (args, question, sentence) => {
  const { child, asked, ended } = atTerminal(args);
  await asked(question);
  child.stdin?.write(CTRL_C);

  const { stdout, code } = await ended;

  expect(code).toBe(130);
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
    env: { ...account, CARETAKER_CONFIG: join(desk.folder, 'config/caretaker.yaml') },
    input,
    terminals: ['stdin', 'stdout', 'stderr'],
  });
  expect(await main(['apply', join(desk.folder, 'sync.plan')], io)).toBe(1);
  expect(io.together).toMatch(/Only "yes" applies the plan[\s\S]*\nNothing was applied\.\n$/);
  expect(sandbox.journal.effects).toEqual([]);
});
