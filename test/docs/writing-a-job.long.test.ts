/** Follows docs/writing-a-job.md exactly, in a fresh copy of this checkout, with the compiler, the linter and vitest. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { code, root, shown } from './job-page.ts';

const needed = [
  ...['src', 'jobs', 'config', 'test/support', 'test/dashboard/browser-of-run.ts'],
  ...['package.json', 'tsconfig.json', 'vitest.config.ts'],
];

let checkout: string;
beforeAll(() => {
  checkout = mkdtempSync(join(tmpdir(), 'caretaker-stranger-'));
  for (const part of [...needed, 'biome.json'])
    cpSync(join(root, part), join(checkout, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
  mkdirSync(join(checkout, 'test/jobs'));
  for (const { file, text } of shown) writeFileSync(join(checkout, file), text);
});
afterAll(() => rmSync(checkout, { recursive: true, force: true }));

/** Runs a tool in the checkout; returns its exit code and output. */
async function run(script: string, ...args: string[]): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [join(checkout, 'node_modules', script), ...args], {
    cwd: checkout,
    env: { PATH: process.env['PATH'] ?? '', HOME: checkout, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said };
}

test('they compile', async () => {
  // With what they import: the rest of the checkout takes three times as long, and is checked on its own.
  const config = { extends: './tsconfig.json', include: [], files: code };
  writeFileSync(join(checkout, 'tsconfig.page.json'), JSON.stringify(config));

  expect(await run('typescript/bin/tsc', '--singleThreaded', '-p', 'tsconfig.page.json')).toEqual({
    code: 0,
    said: '',
  });
});

test('they pass the linter', async () => {
  const style = await run('@biomejs/biome/bin/biome', 'check', '--vcs-enabled=false', ...code);
  expect(style).toEqual({ code: 0, said: expect.any(String) });
});

test('the test passes', async () => {
  const tests = await run('vitest/vitest.mjs', 'run', 'test/jobs');
  expect(tests).toMatchObject({ code: 0, said: expect.stringContaining('1 passed') });
});
