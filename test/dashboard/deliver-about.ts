import { Redis } from 'ioredis';
import { keys } from '../../src/records/keys.ts';
import type { World } from './world.ts';

/** Makes a delivery about a run of a policy, with the id `about-<policy>`. */
export async function deliverAbout(
  { redis: { options }, records }: Pick<World, 'redis' | 'records'>,
  run: string,
  policy: string,
  account = 'default',
): Promise<void> {
  const at = Date.now();
  const text = JSON.stringify({ type: 'deadline', run, at });
  const redis = new Redis(options);
  await redis.zadd(keys.notices, at, text);
  redis.disconnect();
  const about = { event: 'run.late', at, policy, account, run, message: { text: `${policy} is late.` } };
  const made = [{ message: { id: `about-${policy}`, to: 'ops', ...about } }];
  await records.notices.take({ text }, { made, changes: [] }, at);
}
