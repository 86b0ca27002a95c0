import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { hashToken, isPasswordOf } from '../../src/access/credentials.ts';
import { main } from '../../src/cli/main.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { folderWith } from '../settings/folder.ts';
import { TestIo } from '../support/io.ts';

/** Runs a command with this text on standard input. */
async function run(args: string[], input = '', config = '') {
  const folder = folderWith({ 'config/caretaker.yaml': config });
  const io = new TestIo({ env: { CARETAKER_CONFIG: join(folder, 'config/caretaker.yaml') }, input });
  return { code: await main(args, io), ...io.printed };
}

test('user add prints lines that the configuration accepts, with the hash of the password alone', async () => {
  const password = 'correct horse battery';
  const { code, stdout, stderr } = await run(
    ['user', 'add', 'ana', '--stdin', '--role', 'operator', 'approver'],
    `${password}\n`,
  );

  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('Add these lines') });
  const { access } = loadSettings({ cwd: folderWith({ 'config/caretaker.yaml': stdout }), env: {} });
  expect(access.users).toMatchObject([{ name: 'ana', grants: [{ role: 'operator' }, { role: 'approver' }] }]);
  expect(await isPasswordOf(access.users[0]?.passwordHash ?? '', password)).toBe(true);
  expect(stdout + stderr).not.toContain(password);
});

test('a short password is refused, and a password is never asked for without a terminal', async () => {
  const short = await run(['user', 'add', 'ana', '--stdin'], 'elevenchars\n');
  expect(short).toMatchObject({ code: 2, stdout: '' });
  expect(short.stderr).toContain('The password must have at least 12 characters.');
  const without = await run(['user', 'add', 'ana']);
  expect(without).toMatchObject({ code: 2, stdout: '' });
  expect(without.stderr).toContain('send the password with --stdin');
});

test('user passwd is for users of the configuration, and user add for others', async () => {
  const config = 'access: { users: { ana: { oidc_subject: x, roles: [viewer] } } }\n';
  const password = 'correct horse battery\n';

  const changed = await run(['user', 'passwd', 'ana', '--stdin'], password, config);
  const misspelt = await run(['user', 'passwd', 'anna', '--stdin'], password, config);
  const again = await run(['user', 'add', 'ana', '--stdin'], password, config);

  expect(Object.keys(parse(changed.stdout).access.users.ana)).toEqual(['password_hash']);
  expect(misspelt).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean ana?') });
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('There is a user "ana" already') });
});

test('user token prints a new token once, and its hash for the configuration', async () => {
  const { code, stdout, stderr } = await run(['user', 'token', 'ci', '--role', 'operator']);

  const token = /shown only now: (\S+)/.exec(stderr)?.[1] ?? '';
  expect(code).toBe(0);
  expect(parse(stdout)).toEqual({
    access: { tokens: { ci: { hash: hashToken(token), roles: ['operator'] } } },
  });
  expect(stdout).not.toContain(token);
});

test('a name that the configuration would refuse is refused', async () => {
  const { code, stderr } = await run(['user', 'token', 'Ci Server']);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('lowercase letters') });
});
