import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withLock } from '../../../src/redis/embedded/lock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'caretaker-lock-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A separate process that takes the lock and never releases it. */
async function startOwner() {
  const files = ['../../support/call.mjs', './embedded.user.ts'].map((file) =>
    fileURLToPath(new URL(file, import.meta.url)),
  );
  const owner = spawn(process.execPath, [...files, 'takeLock', folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(owner.stdout, 'data');
  return owner;
}

test('work under the lock never overlaps, and few tickets are left', async () => {
  let inside = 0;
  let most = 0;
  const work = async () => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise(setImmediate);
    inside -= 1;
  };

  await Promise.all(Array.from({ length: 30 }, () => withLock(folder, work)));

  expect(most).toBe(1);
  expect((await readdir(folder)).length).toBeLessThan(40);
});

test('work that fails releases the lock', async () => {
  await expect(withLock(folder, () => Promise.reject(new Error('no')))).rejects.toThrow('no');

  expect(await withLock(folder, async () => 'done')).toBe('done');
});

test('the lock of a killed owner is taken over, and that of a living one is not', async () => {
  const owner = await startOwner();
  await expect(withLock(folder, async () => 'done', { limitMs: 50 })).rejects.toMatchObject({
    code: 'DATA_FOLDER_BUSY',
    message: expect.stringContaining(`process ${owner.pid} `),
  });

  owner.kill('SIGKILL');

  expect(await withLock(folder, async () => 'done', { settleMs: 0 })).toBe('done');
});
