import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { folderWith } from '../settings/folder.ts';
import type { World } from '../support/caretaker.ts';

/** Keeps the data that Redis has on its disk, to put it back later. Redis is killed and restarted for both. */
export async function takeSnapshot({ redis }: World): Promise<{ putBack(): Promise<void> }> {
  const snapshot = folderWith({});
  const data = join(redis.serverDir, 'appendonlydir');
  await redis.kill();
  cpSync(data, snapshot, { recursive: true });
  await redis.restart();
  return {
    async putBack() {
      await redis.kill();
      rmSync(data, { recursive: true });
      cpSync(snapshot, data, { recursive: true });
      await redis.restart();
    },
  };
}
