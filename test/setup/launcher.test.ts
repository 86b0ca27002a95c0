/** The launcher as a process: what it builds before it starts it, and what becomes of its output. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Checkout, makeCheckout } from './checkout.ts';

let checkout: Checkout;
beforeEach(async () => {
  checkout = await makeCheckout();
});
afterEach(() => checkout.remove());

test('a changed source is built before it is started', async () => {
  await checkout.writeMain(`process.stdout.write('first'); return 0;`);
  expect(await checkout.run('bin.cjs')).toEqual({ code: 0, stdout: 'first', stderr: '' });

  await checkout.writeMain(`process.stdout.write('second'); return 1;`);
  expect(await checkout.run('bin.cjs')).toEqual({ code: 1, stdout: 'second', stderr: '' });
});

test('a source that does not compile is reported with the output of the compiler', async () => {
  await checkout.writeMain(`return 'not closed;`);

  const { code, stderr } = await checkout.run('bin.cjs');

  expect(code).toBe(2);
  expect(stderr).toMatch(/^The build failed:\n.*Unterminated string literal\n\s+src\/cli\/main\.ts:2:19:/);
});

test('a read-only checkout without a build is reported in one sentence', async () => {
  await checkout.writeMain('return 0;');
  await writeFile(join(checkout.dir, 'dist'), 'no folder');

  const { code, stderr } = await checkout.run('bin.cjs');

  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^The source is not built yet, and .* cannot be written \(E[A-Z]+\): run "npm run setup" there as its owner\.\n$/,
  );
});

describe('a build that is current', () => {
  let built: Checkout;
  const launcher = () => join(built.dir, 'src/cli/bin.cjs');
  beforeAll(async () => {
    built = await makeCheckout();
    await built.writeMain(`
      const [what] = _argv;
      const write = (text: unknown) => process.stdout.write(String(text));
      if (what === 'stack') write(new Error('gone wrong').stack);
      if (what === 'one') write('data');
      if (what === 'lines') for (let line = 1; line <= 100_000; line += 1) write(line + '\\n');
      if (what !== 'much') return 0;
      setInterval(() => {}, 1_000);
      write('x'.repeat(1_000_000));
      return 3;
    `);
  });
  afterAll(() => built.remove());

  test('a stack trace names the source', async () => {
    const { stdout } = await built.run('bin.cjs', ['stack']);

    expect(stdout).toMatch(/^Error: gone wrong\n {4}at .*main \(.*src\/cli\/main\.ts:5:\d+\)\n/);
  });

  test.skipIf(!existsSync('/dev/full'))('output that is lost is no success', async () => {
    const { status, stderr } = spawnSync(
      'sh',
      ['-c', `"${process.execPath}" "${launcher()}" one > /dev/full`],
      { encoding: 'utf8' },
    );

    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'The output could not be written (ENOSPC), so it is incomplete.\n',
    });
  });

  test('a closed output pipe is not a failure', async () => {
    const line = `{ "${process.execPath}" "${launcher()}" lines; echo "code $?" >&2; } | head -1`;

    const { stdout, stderr } = spawnSync('sh', ['-c', line], { encoding: 'utf8' });

    expect({ stdout, stderr }).toEqual({ stdout: '1\n', stderr: 'code 0\n' });
  });

  test('all output arrives, and an open handle does not keep the command from ending', async () => {
    const { code, stdout } = await built.run('bin.cjs', ['much']);

    expect(code).toBe(3);
    expect(stdout).toHaveLength(1_000_000);
  });
});

test('a file of a build runs as its compiled code, and as its source where V8 refuses that', async () => {
  const require = createRequire(import.meta.url);
  const { compiled, useCompiled } = require('../../src/cli/compiled.cjs');
  useCompiled();
  const file = async (name: string, code: Buffer) => {
    const path = join(checkout.dir, name);
    await writeFile(path, 'module.exports = "source  ";');
    await writeFile(`${path}.compiled`, code);
    return path;
  };

  const code = compiled('module.exports = "compiled";', 'any.cjs');

  expect(require(await file('a.cjs', code))).toBe('compiled');
  expect(require(await file('b.cjs', Buffer.from('of another V8')))).toBe('source  ');
  const alone = join(checkout.dir, 'c.cjs');
  await writeFile(alone, 'module.exports = import("node:fs").then(() => "imported");');
  expect(await require(alone)).toBe('imported');
});

test('without npm packages the error names the command to run', async () => {
  await checkout.writeMain('return 0;');
  await rename(join(checkout.dir, 'node_modules'), join(checkout.dir, 'elsewhere'));

  expect(await checkout.run('bin.cjs')).toEqual({
    code: 2,
    stdout: '',
    stderr: 'The npm packages are not installed. Run "npm run setup" first.\n',
  });
});

test('the launcher refuses the same Node versions as package.json', async () => {
  const { engines } = JSON.parse(await readFile(join(checkout.dir, 'package.json'), 'utf8'));
  const launcher = await readFile(join(checkout.dir, 'src/cli/bin.cjs'), 'utf8');

  expect(launcher).toContain(`minNode = [${engines.node.replace('>=', '').replace('.', ', ')}]`);
});
