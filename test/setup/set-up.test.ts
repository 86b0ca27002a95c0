/** The set-up as a process on machines that have other programs. Only a process has a PATH of its own. */
import { chmod, mkdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installCommands } from '../../src/redis/embedded/binary.ts';
import { type Checkout, makeCheckout } from './checkout.ts';

let checkout: Checkout;
beforeAll(async () => {
  checkout = await makeCheckout();
  await checkout.writeMain('return 0;');
});
afterAll(() => checkout.remove());

/** The environment of a machine that has these programs and no others. */
async function machine(programs: Record<string, string>, env: NodeJS.ProcessEnv = {}) {
  const bin = join(checkout.dir, `machine-${Object.keys(programs).join('-')}`);
  await mkdir(bin, { recursive: true });
  const sudo = 'while [ "$1" = -n ]; do shift; done; exec "$@"';
  for (const [name, script] of Object.entries({ sudo, ...programs })) {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, name), 0o755);
  }
  return { PATH: bin, REDIS_URL: '', CI: '', ...env };
}

test('a complete machine is set up once, and each time the output shows how to add the command to the PATH', async () => {
  const env = await machine({ 'redis-server': '' });
  const ready = `Ready. For the command "caretaker" in this terminal: export PATH="$PATH:${checkout.dir}/node_modules/.bin"\n`;

  expect(await checkout.run('set-up.mjs', [], env)).toMatchObject({
    code: 0,
    stderr: `Building\n${ready}`,
  });
  expect(await checkout.run('set-up.mjs', [], env)).toEqual({ code: 0, stdout: '', stderr: ready });
  expect(await readlink(join(checkout.dir, 'node_modules/.bin/caretaker'))).toBe('../../src/cli/bin.cjs');
});

test('a missing Redis is installed after an announcement, with the package list fetched if needed', async () => {
  const asked = join(checkout.dir, 'asked');
  const script = `echo "$@" >> ${asked}; [ "$1" = update ] || [ "$(wc -l < ${asked})" -gt 1 ]`;
  const env = await machine({ 'apt-get': script, wc: 'exec /usr/bin/wc "$@"' });

  const { code, stderr } = await checkout.run('set-up.mjs', ['--for', 'test'], env);

  expect(stderr).toMatch(/^Installing a Redis server \((sudo -n )?apt-get install .*redis-server\)\n$/);
  expect(code).toBe(0);
  expect((await readFile(asked, 'utf8')).split('\n').map((line) => line.split(' ')[0])).toEqual([
    'install',
    'update',
    'install',
    '',
  ]);
});

test('an installation that fails shows what was tried and ends with one sentence', async () => {
  const env = await machine({ dnf: 'echo no network; exit 1' });

  const { code, stderr } = await checkout.run('set-up.mjs', [], env);

  expect(code).toBe(1);
  expect(stderr).toContain('no network\n');
  expect(stderr).toMatch(/\nRedis could not be installed\. .* REDIS_URL to a Redis of yours\.\n$/);
});

test('without a package manager the error names what is missing', async () => {
  expect(await checkout.run('set-up.mjs', [], await machine({}))).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'redis-server is missing, and there is no known package manager to install it with. Install Redis or Valkey, ' +
      'or set REDIS_URL to a Redis of yours.\n',
  });
});

test('a Redis elsewhere is enough to use Caretaker, and not for its tests', async () => {
  const env = await machine({}, { REDIS_URL: 'redis://redis.example:6379' });

  expect((await checkout.run('set-up.mjs', ['--for', 'use'], env)).code).toBe(0);
  expect((await checkout.run('set-up.mjs', ['--for', 'test'], env)).code).toBe(1);
});

test('the tests get a browser and a Prometheus in CI, and only there', async () => {
  const programs = { 'redis-server': '', 'apt-get': '' };
  const env = await machine(programs);

  expect((await checkout.run('set-up.mjs', ['--for', 'test'], env)).stderr).toBe('');
  expect((await checkout.run('set-up.mjs', ['--for', 'test'], { ...env, CI: 'true' })).stderr).toMatch(
    /^Installing Chromium for the tests \(.*apt-get install .*chromium\)\nInstalling Prometheus for the tests \(.*apt-get install .*prometheus\)\n$/,
  );
});

test.each(Object.entries(installCommands))(
  'with %s the set-up installs what the error message recommends',
  async (manager, recommended) => {
    const { stderr } = await checkout.run('set-up.mjs', ['--for', 'test'], await machine({ [manager]: '' }));

    expect(stderr).toContain(`${manager} `);
    expect(stderr).toContain(` ${recommended.split(' ').at(-1)})`);
  },
);
