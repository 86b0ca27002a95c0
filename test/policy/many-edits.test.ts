import { test } from 'vitest';
import { redisOfFile } from '../support/redis-of-file.ts';
import { expectEditsFollowed } from './edits-in-turn.ts';

const { redis } = await redisOfFile();

test('after each of 40 edits what is active is what the files say, and nothing that was removed fires again', async () => {
  await expectEditsFollowed(redis, 40);
});
