import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { OpenRecords } from '../../src/app/open-records.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk } from '../support/cli.ts';

let desk: Desk;
let sandbox: Sandbox;
let records: OpenRecords['records'];
beforeAll(async () => {
  sandbox = await startSandbox({ sites: 2, rateLimit: 0 });
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: sandbox.token });
  ({ records } = await desk.keepRedis());
});
afterEach(() => records.freeze.end(Date.now()));
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
});

const DAY = 86_400_000;

test('every command shows the end, the author and the reason of a freeze, and the next runs are after it', async () => {
  const before = Date.now();
  const frozen = await desk.run(['freeze', '--for', '3d', '--reason', 'the big sale']);
  expect(frozen.code).toBe(0);
  expect(frozen.stderr).toMatch(/^Everything is frozen until \S+ \S+Z: no policy starts a run/m);

  const words = /everything is frozen by \S+ since \S+ \S+Z until \S+ \S+Z \(the big sale\)/;
  const listed = await desk.run(['policies', '--json']);
  expect(listed.stderr).toMatch(words);
  for (const { next } of JSON.parse(listed.stdout))
    expect(Date.parse(next)).toBeGreaterThanOrEqual(before + 3 * DAY);
  expect((await desk.run(['runs'])).stderr).toMatch(words);
  expect((await desk.run(['policies', 'show', 'nightly-sync'])).stdout).toMatch(words);
  expect((await desk.run(['doctor'])).stdout).toMatch(
    /^warning {2}freeze: frozen by .*\(the big sale\): no run starts/m,
  );
});

test('a manual run is refused during a freeze in one sentence, and started with --ignore-freeze', async () => {
  await desk.run(['freeze', '--for', '1h']);

  const refused = await desk.run(['run', 'nightly-sync']);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(
    /error: No run was started: everything is frozen by .*"caretaker unfreeze" ends that; --ignore-freeze starts this one anyway\. \[FROZEN\]$/m,
  );
  expect(sandbox.journal.effects).toEqual([]);

  expect((await desk.run(['run', 'nightly-sync', '--ignore-freeze'])).code).toBe(0);
});

test('a freeze can be ended early, and replaces an earlier one', async () => {
  await desk.run(['freeze', '--for', '1h', '--reason', 'the big sale']);
  expect((await desk.run(['freeze', '--for', '2h'])).stderr).toMatch(
    /^This replaces an earlier freeze: everything was frozen by .*\(the big sale\)\.$/m,
  );

  expect((await desk.run(['unfreeze'])).stderr).toMatch(
    /^The freeze has ended, and policies run again\. Everything was frozen by .*\(the big sale\)\.$/m,
  );
  expect((await desk.run(['unfreeze'])).stderr).toContain('There is no freeze.');
  expect((await desk.run(['policies'])).stderr).not.toContain('frozen');
});

test.each([
  [[], 'A freeze needs an end'],
  [['--until', '2020-01-01'], 'must be in the future'],
])('a freeze with %j is rejected in one sentence', async (options, sentence) => {
  const { code, stderr } = await desk.run(['freeze', ...options]);
  expect(code).toBe(2);
  expect(stderr).toContain(sentence);
});
