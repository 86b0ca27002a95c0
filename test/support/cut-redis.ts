/**
 * A connection to a Redis that can be cut between a command and its answer: the command is executed, and sent
 * again.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { openRelay } from './relay.ts';

export interface CutRedis {
  /** A connection that resends unanswered commands, as Caretaker's own does. */
  redis: Redis;
  /** Loses the next answer of Redis, with the connection. */
  loseNextAnswer(): void;
  /** How many answers were lost. */
  lost(): number;
  stop(): Promise<void>;
}

/** Opens a connection to the Redis at `socketPath` through a socket of our own. */
export async function openCutRedis(socketPath: string): Promise<CutRedis> {
  const dir = await mkdtemp(join(tmpdir(), 'caretaker-cut-'));
  const path = join(dir, 'cut.sock');
  let cutting = false;
  let lost = 0;
  const { server, close } = openRelay(socketPath, (near, far) => {
    near.pipe(far);
    far.on('data', (answer) => {
      if (!cutting) {
        near.write(answer);
        return;
      }
      cutting = false;
      lost += 1;
      near.destroy();
    });
  });
  server.listen(path);
  await once(server, 'listening');
  const redis = new Redis({ path, maxRetriesPerRequest: null, retryStrategy: () => 1 });
  redis.on('error', () => undefined);
  await redis.ping();
  return {
    redis,
    loseNextAnswer() {
      cutting = true;
    },
    lost: () => lost,
    async stop() {
      redis.disconnect();
      close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
