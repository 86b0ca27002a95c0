import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk } from '../support/cli.ts';

let sandbox: Sandbox;
let desk: Desk;
beforeAll(async () => {
  sandbox = await startSandbox({ sites: 3, speed: 200, rateLimit: 0, token: 't' });
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 't' });
});
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
});

test('the records of one folder are restored in another, and stay as they are without --replace', async () => {
  expect((await desk.run(['run', 'nightly-sync'])).code).toBe(0);
  const [before] = JSON.parse((await desk.run(['runs', '--json'])).stdout);

  const backup = await desk.run(['backup', 'records.gz', '--reason', 'before the upgrade']);
  expect(backup).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/written to records\.gz: \d+ keys\./),
  });
  expect(existsSync(join(desk.folder, 'records.gz'))).toBe(true);
  expect(await desk.run(['backup', 'records.gz'])).toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining('records.gz exists already') },
  });
  const lines = JSON.parse((await desk.run(['audit', '--what', 'records', '--json'])).stdout);
  expect(lines).toMatchObject([{ what: 'records.backup', why: 'before the upgrade' }]);

  const elsewhere = { CARETAKER_DATA_DIR: 'elsewhere' };
  const restored = await desk.run(['restore', 'records.gz'], elsewhere);
  expect(restored).toMatchObject({ code: 0, stderr: expect.stringContaining('were restored: 1 run.') });
  expect(JSON.parse((await desk.run(['runs', '--json'], elsewhere)).stdout)).toEqual([before]);
  expect(await desk.run(['restore', 'records.gz'])).toMatchObject({
    ...{ code: 2, stderr: expect.stringMatching(/has records already.*\[BACKUP\]/) },
  });
  expect(await desk.run(['restore', 'records.gz', '--replace'])).toMatchObject({ code: 0 });
});
