/** Colours go only to terminals, also those of the programs that `npm run conformance` starts. */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

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
