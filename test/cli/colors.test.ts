/** Colours go only to terminals, never into a pipe or a file. */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import { openTerminal } from '../../src/cli/output/terminal.ts';

const root = resolve(import.meta.dirname, '../..');

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** The output of a command while only these streams are terminals. */
function printed(terminals: { stdout: boolean; stderr: boolean }) {
  vi.stubEnv('NO_COLOR', '');
  vi.stubEnv('TERM', 'xterm');
  const texts = { stdout: '', stderr: '' };
  const isTTY = { stdout: process.stdout.isTTY, stderr: process.stderr.isTTY };
  for (const stream of ['stdout', 'stderr'] as const) {
    process[stream].isTTY = terminals[stream];
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      texts[stream] += String(text);
      return true;
    });
  }
  try {
    const { data, message, paint } = openTerminal();
    data(paint('green', 'ok'));
    message(paint('yellow', 'warning'));
  } finally {
    for (const stream of ['stdout', 'stderr'] as const) process[stream].isTTY = isTTY[stream];
  }
  return texts;
}

test('data that goes into a pipe has no colours, also when errors go to a terminal', () => {
  expect(printed({ stdout: false, stderr: true })).toEqual({
    stdout: 'ok\n',
    stderr: '\u001b[33mwarning\u001b[39m\n',
  });
});

test('data at a terminal has colours, also when errors go into a file, which gets none', () => {
  expect(printed({ stdout: true, stderr: false })).toEqual({
    stdout: '\u001b[32mok\u001b[39m\n',
    stderr: 'warning\n',
  });
});

test('npm run conformance writes no colours into a pipe', { timeout: 60_000 }, () => {
  const { PATH, HOME } = process.env;
  const { stdout, status } = spawnSync(
    process.execPath,
    [join(root, 'test/conformance/run.mjs'), 'test/conformance/4.13-tags.test.ts'],
    { cwd: root, encoding: 'utf8', env: { PATH, HOME, TERM: 'xterm' } },
  );
  expect(status).toBe(0);
  expect(stdout).toContain('passed');
  expect(stdout).toBe(stripVTControlCharacters(stdout));
});
