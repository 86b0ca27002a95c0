/** Users of the embedded Redis in processes of their own that are killed: only these show what a dead process leaves. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test, vi } from 'vitest';
import { healthOf } from '../../../src/redis/embedded/server.ts';
import { connect, newFolder, open, openInProcess } from './users.ts';
import './embedded.test.ts';

test('a server left behind by a killed process is found and used', async () => {
  const dataDir = await newFolder();
  const other = await openInProcess(dataDir);
  expect(other.started).toBe(true);
  await other.kill();
  expect(await healthOf(other.socketPath)).toBe('ready');

  const mine = await open(dataDir);

  expect(mine).toMatchObject({ socketPath: other.socketPath, started: false });
});

test('a folder whose path is too long for a socket can still be shared', async () => {
  const dataDir = await newFolder('a-folder-with-a-long-name-'.repeat(6));
  const mine = await open(dataDir);
  vi.stubEnv('TMPDIR', '/var/tmp');
  const other = await openInProcess(dataDir);

  expect(other).toMatchObject({ socketPath: mine.socketPath, started: false });
  expect(Buffer.byteLength(mine.socketPath)).toBeLessThan(104);
});

test('a server whose users were all killed stops by itself, and its data is kept', async () => {
  const dataDir = await newFolder('a-folder-with-a-long-name-'.repeat(6));
  const killed = [await openInProcess(dataDir), await openInProcess(dataDir)];
  const client = connect({ socketPath: killed[0]?.socketPath ?? '' });
  await client.set('kept', 'yes');
  client.disconnect();

  for (const user of killed) await user.kill();

  const socketPath = killed[0]?.socketPath ?? '';
  await vi.waitFor(async () => expect(await healthOf(socketPath)).toBe('down'), {
    timeout: 60_000,
    interval: 200,
  });
  // Its socket was among the system's temporary files, and that folder is deleted too.
  await vi.waitFor(() => expect(existsSync(dirname(socketPath))).toBe(false), {
    timeout: 20_000,
    interval: 200,
  });
  const again = await open(dataDir);
  expect(again.started).toBe(true);
  expect(await connect(again).get('kept')).toBe('yes');
  await again.close();
  expect(existsSync(dirname(socketPath))).toBe(false);
});
