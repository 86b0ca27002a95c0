import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Checkout, makeCheckout } from './checkout.ts';

let checkout: Checkout;
beforeEach(async () => {
  checkout = await makeCheckout();
});
afterEach(() => checkout.remove());

test('a changed source is built before it is started', async () => {
  await checkout.writeMain(`process.stdout.write('first'); return 0;`);
  expect(await checkout.run('bin.mjs')).toEqual({ code: 0, stdout: 'first', stderr: '' });

  await checkout.writeMain(`process.stdout.write('second'); return 1;`);
  expect(await checkout.run('bin.mjs')).toEqual({ code: 1, stdout: 'second', stderr: '' });
});

test('several commands on a stale build all start the current source', async () => {
  await checkout.writeMain(`process.stdout.write('current'); return 0;`);

  const ended = await Promise.all(Array.from({ length: 4 }, () => checkout.run('bin.mjs')));

  expect(ended).toEqual(Array.from({ length: 4 }, () => ({ code: 0, stdout: 'current', stderr: '' })));
});

test('a source that does not compile is told in the words of the compiler', async () => {
  await checkout.writeMain(`return 'not a number';`);

  const { code, stderr } = await checkout.run('bin.mjs');

  expect(code).toBe(2);
  expect(stderr).toMatch(/^The build failed:\n.*main\.ts\(2,1\): error TS2322/);
});

test('all output arrives, and an open handle does not keep the command from ending', async () => {
  await checkout.writeMain(`
    setInterval(() => {}, 1_000);
    process.stdout.write('x'.repeat(1_000_000));
    return 3;
  `);

  const { code, stdout } = await checkout.run('bin.mjs');

  expect(code).toBe(3);
  expect(stdout).toHaveLength(1_000_000);
});

test('without npm packages one sentence says what to run', async () => {
  await checkout.writeMain('return 0;');
  await rename(join(checkout.dir, 'node_modules'), join(checkout.dir, 'elsewhere'));

  expect(await checkout.run('bin.mjs')).toEqual({
    code: 2,
    stdout: '',
    stderr: 'The npm packages are missing: run "npm run setup" first.\n',
  });
});

test('the launcher refuses the same Node versions as package.json', async () => {
  const { engines } = JSON.parse(await readFile(join(checkout.dir, 'package.json'), 'utf8'));
  const launcher = await readFile(join(checkout.dir, 'src/cli/bin.mjs'), 'utf8');

  expect(launcher).toContain(`oldestNode = [${engines.node.replace('>=', '').replace('.', ', ')}]`);
});
