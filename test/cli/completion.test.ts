import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Desk, openDesk } from '../support/cli.ts';

let desk: Desk;
beforeAll(() => {
  desk = openDesk({});
});
afterAll(() => desk.clear());

const completed = async (...words: string[]) =>
  (await desk.run(['completion', 'bash', '--', ...words])).stdout.trim().split('\n');

test.each([
  { typed: ['doc'], found: ['doctor'] },
  { typed: ['policies', 'p'], found: ['pause'] },
  { typed: ['run', '--dr'], found: ['--dry-run'] },
  { typed: ['run', '--conf'], found: ['--config'] },
  { typed: ['api', 'showTe'], found: ['showTeamMember'] },
  { typed: ['plan', 'nightly-s'], found: ['nightly-sync'] },
  { typed: ['policies', 'show', 'nightly-s'], found: ['nightly-sync'] },
  { typed: ['runs', '--policy', 'nightly-s'], found: ['nightly-sync'] },
  { typed: ['completion', 'z'], found: ['zsh'] },
])('$typed is completed to $found', async ({ typed, found }) => {
  expect(await completed(...typed)).toEqual(found);
});

test('bash completes with the script that is printed', async () => {
  const { stdout: script } = await desk.run(['completion', 'bash']);
  const bin = resolve(import.meta.dirname, '../../src/cli/bin.mjs');
  const said = spawnSync(
    'bash',
    [
      '-c',
      `caretaker() { "${process.execPath}" "${bin}" "$@"; }
       ${script}
       COMP_WORDS=(caretaker run nightly-s); COMP_CWORD=2; _caretaker; echo "\${COMPREPLY[@]}"`,
    ],
    { cwd: join(desk.folder), encoding: 'utf8' },
  );
  expect(said.stdout).toBe('nightly-sync\n');
});

test('an unknown shell is a usage error', async () => {
  const { code, stderr } = await desk.run(['completion', 'bsh']);
  expect(code).toBe(2);
  expect(stderr).toContain('did you mean bash?');
});
