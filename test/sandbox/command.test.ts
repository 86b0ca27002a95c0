import { afterAll, expect, test, vi } from 'vitest';
import { faultNames, faultSets } from '../../src/sandbox/faults/names.ts';
import { openDesk } from '../support/cli.ts';

// The first command of a checkout compiles it.
vi.setConfig({ testTimeout: 90_000 });

const desk = openDesk({});
afterAll(() => desk.clear());

test('the help of the sandbox lists every fault and every set', async () => {
  const { code, stdout } = await desk.run(['sandbox', '--help']);
  expect(code).toBe(0);
  for (const name of [...Object.keys(faultNames), ...Object.keys(faultSets)])
    expect(stdout).toContain(`  ${name} `);
});

test('an unknown fault is a usage error that lists the available ones', async () => {
  const { code, stderr } = await desk.run(['sandbox', '--port', '0', '--faults', 'flakey']);
  expect(code).toBe(2);
  expect(stderr).toContain('There is no fault "flakey". Available: flaky,');
});

test('the sandbox prints how to use it, and with --state the account is the same after a restart', async () => {
  const args = [
    'sandbox',
    '--port',
    '0',
    '--token',
    'made-up-token',
    '--sites',
    '3',
    '--state',
    'account.state',
    '--faults',
    'flaky:0',
  ];
  const headers = { authorization: 'Bearer made-up-token' };
  const serve = async (act: (url: string) => Promise<void>) => {
    const { line, ended, signal } = desk.start(args);
    const url = (await line(/^listening /)).replace('listening ', '');
    expect(await line(/CARETAKER_API_TOKEN/)).toContain(
      `export CARETAKER_BASE_URL=${url} CARETAKER_API_TOKEN=made-up-token CARETAKER_DATA_DIR=.caretaker/sandbox`,
    );
    await act(url);
    signal('SIGTERM');
    expect((await ended).code).toBe(0);
  };
  await serve(async (url) => {
    const body = JSON.stringify({ tag: { name: 'kept over the restart' } });
    expect((await fetch(`${url}/tags`, { method: 'POST', headers, body })).status).toBe(201);
  });
  await serve(async (url) => {
    const { tags } = (await (await fetch(`${url}/tags`, { headers })).json()) as { tags: { name: string }[] };
    expect(tags[0]?.name).toBe('kept over the restart');
  });
});
