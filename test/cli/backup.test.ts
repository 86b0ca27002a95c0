import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sandboxOfFile } from './desk-of-file.ts';

const { desk } = await sandboxOfFile({ sites: 3, speed: 200, keepsRedis: false });

test('the records of one folder are restored in another, and stay as they are without --replace', async () => {
  expect((await desk.run(['run', 'nightly-sync'])).code).toBe(0);
  const [before] = await desk.json(['runs']);

  const backup = await desk.run(['backup', 'records.gz', '--reason', 'before the upgrade']);
  expect(backup).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/written to records\.gz: \d+ keys\./),
  });
  expect(existsSync(join(desk.folder, 'records.gz'))).toBe(true);
  expect(await desk.run(['backup', 'records.gz'])).toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining('records.gz exists already') },
  });
  expect(await desk.json(['audit', '--what', 'records'])).toMatchObject([
    { what: 'records.backup', why: 'before the upgrade' },
  ]);

  const elsewhere = { CARETAKER_DATA_DIR: 'elsewhere' };
  const restored = await desk.run(['restore', 'records.gz'], elsewhere);
  expect(restored).toMatchObject({ code: 0, stderr: expect.stringContaining('were restored: 1 run.') });
  expect(await desk.json(['runs'], elsewhere)).toEqual([before]);
  expect(await desk.run(['restore', 'records.gz'])).toMatchObject({
    ...{ code: 2, stderr: expect.stringMatching(/has records already.*\[BACKUP\]/) },
  });
  expect(await desk.run(['restore', 'records.gz', '--replace'])).toMatchObject({ code: 0 });
});
