/** `npm run dev` as a process, with a sandbox and a daemon of its own below it. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Process } from '../support/cli.ts';
import { type Checkout, makeCheckout } from './checkout.ts';

let checkout: Checkout;
let dev: Process | undefined;
beforeEach(async () => {
  checkout = await makeCheckout();
});
afterEach(async () => {
  dev?.child.kill('SIGTERM');
  await dev?.ended;
  await checkout.remove();
});

/** A source that prints its version, and runs until it is stopped. */
const source = (version: string) => `
  const [command] = _argv;
  const asked = new Promise((stop) => process.once('SIGTERM', stop));
  const alive = setInterval(() => {}, 1_000);
  if (command === 'sandbox') console.log('listening http://127.0.0.1:4010/api/v6');
  else console.log(\`daemon ${version} on \${process.env['CARETAKER_BASE_URL']}\`);
  await asked;
  clearInterval(alive);
  console.log(\`\${command} ${version} stopped\`);
  return 0;`;

test('the daemon uses the sandbox, restarts when a source file changes unless it does not compile, and both end together', async () => {
  await checkout.writeMain(source('one'));
  dev = checkout.start('dev.mjs');
  await dev.line(/^The sandbox: http:\/\/127\.0\.0\.1:4010\/api\/v6, its journal: http/);
  await dev.line(/^daemon one on http:\/\/127\.0\.0\.1:4010\/api\/v6$/);

  await checkout.writeMain(source('two'));
  await dev.line(/^daemon two on/);
  await checkout.writeMain(`return 'not closed;`);
  await dev.line(/Unterminated string literal/);
  await checkout.writeMain(source('three'));
  await dev.line(/^daemon three on/);
  dev.child.kill('SIGINT');
  const { code, stdout } = await dev.ended;

  expect(code).toBe(0);
  expect(stdout.split('\n')).toEqual([
    expect.stringMatching(/^daemon one on/),
    'daemon one stopped',
    expect.stringMatching(/^daemon two on/),
    'daemon two stopped',
    expect.stringMatching(/^daemon three on/),
    'daemon three stopped',
    '',
  ]);
});

test('a sandbox that cannot start prints the cause, and starts after the next change', async () => {
  await checkout.writeMain(`console.error('Port 4010 is in use.'); return 2;`);
  dev = checkout.start('dev.mjs');
  await dev.line(/^Port 4010 is in use\.$/);

  await checkout.writeMain(source('two'));
  await dev.line(/^daemon two on/);
});
