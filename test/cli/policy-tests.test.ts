/** `caretaker test`, where there is neither an account nor Redis. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deskOfFile } from './desk-of-file.ts';

const desk = deskOfFile({ REDIS_URL: 'redis://127.0.0.1:1' });
mkdirSync(join(desk.folder, 'mine'));

test('the tests of the shipped policies pass, one line each', async () => {
  const { code, stdout, stderr } = await desk.run(['test']);

  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^\d+ tests passed\.\n$/) });
  expect(stdout.trimEnd().split('\n')).toContain(
    'passed  nightly-sync: The sites that have waited longest go first',
  );
});

test('a test that fails shows what differs, and the exit code is 1', async () => {
  desk.write(
    'mine/fails.yaml',
    `tests:
  - name: Nothing is stale
    policy: nightly-sync
    at: 2026-11-21T01:00:00Z
    given: { listSites: [{ id: shop, sync: { last_sync_at: 2026-11-01T00:00:00Z } }] }
    expect: { targets: [] }
`,
  );

  const { code, stdout, stderr } = await desk.run(['test', 'mine/fails.yaml']);

  expect(code).toBe(1);
  expect(stdout).toBe(`failed  nightly-sync: Nothing is stale
        mine/fails.yaml:2:11
        targets: - expected, + planned
          + shop https://shop.example
`);
  expect(stderr).toBe('0 tests passed, 1 failed.\n');
  expect(await desk.json(['test', 'mine/fails.yaml'])).toMatchObject({
    passed: 0,
    failed: 1,
    tests: [{ name: 'Nothing is stale', passed: false, differences: [{ at: 'targets' }] }],
  });
});

test('a broken file is shown with its place and what was meant, and the exit code is 2', async () => {
  desk.write('mine/broken.yaml', 'tests:\n  - nam: It\n    policy: nightly-sync\n    expect: {}\n');

  const { code, stderr } = await desk.run(['test', 'mine/broken.yaml']);

  expect(code).toBe(2);
  expect(stderr).toContain('mine/broken.yaml:2:5: "nam" is not a known key. Did you mean name?');
});
