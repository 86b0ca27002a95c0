/**
 * A command does the same in every folder: the data of a project is beside its configuration.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { deskOfFile } from './desk-of-file.ts';

const desk = deskOfFile({});
const elsewhere = mkdtempSync(join(tmpdir(), 'caretaker-elsewhere-'));
afterAll(() => rmSync(elsewhere, { recursive: true, force: true }));

test('a command that only reads creates no data folder and starts no Redis', async () => {
  expect((await desk.run(['policies'])).code).toBe(0);
  expect((await desk.run(['policies', 'show', 'nightly-sync'])).code).toBe(0);
  expect((await desk.run(['runs'])).stderr).toContain('No runs yet.');
  expect((await desk.run(['validate'])).code).toBe(0);
  expect(existsSync(join(desk.folder, '.caretaker'))).toBe(false);
});

test('a pause set from another folder applies to the project', async () => {
  const config = join(desk.folder, 'config/caretaker.yaml');
  const sub = join(desk.folder, 'config/policies');

  const paused = await desk.run(['--config', config, 'policies', 'pause', 'nightly-sync'], {}, elsewhere);

  expect(paused.code).toBe(0);
  expect(existsSync(join(elsewhere, '.caretaker'))).toBe(false);
  const policies = JSON.parse((await desk.run(['policies', '--json'], {}, sub)).stdout);
  expect(policies).toContainEqual(
    expect.objectContaining({
      name: 'nightly-sync',
      paused: expect.objectContaining({ by: expect.any(String) }),
    }),
  );
  expect(existsSync(join(sub, '.caretaker'))).toBe(false);
});

test('without a project, one sentence says so', async () => {
  const { code, stdout, stderr } = await desk.run(['policies'], {}, elsewhere);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^error: There is no config\/caretaker\.yaml in \S+ or any folder above it\. .*\n$/);
  mkdirSync(join(elsewhere, 'p'));
  writeFileSync(join(elsewhere, 'p/a.yaml'), 'policies: [{ name: a, job: site-sync }]\n');
  const alone = await desk.run(['validate', 'p/a.yaml'], {}, elsewhere);
  expect(alone.code).toBe(0);
  expect(alone.stderr).toContain('ok: 1 policy.');
});
