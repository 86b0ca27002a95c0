/** A primary behind a Sentinel, each with a user and a password of its own. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectRedis, type RedisSettings } from '../../src/redis/connect.ts';
import { keptLog } from '../support/quiet.ts';
import { PASSWORD, type RedisGroup, SENTINEL_PASSWORD, startRedisGroup } from '../support/redis-group.ts';
import { expectPrefixHolds } from './prefix-holds.ts';

let group: RedisGroup;
beforeAll(async () => {
  group = await startRedisGroup({ kind: 'sentinel' });
});
afterAll(() => group.stop());

const settings = (changes: object = {}): RedisSettings => ({
  kind: 'sentinel',
  sentinels: [{ host: '127.0.0.1', port: group.sentinelPort }],
  name: 'main',
  username: 'agency',
  password: PASSWORD,
  atSentinels: { username: 'watcher', password: SENTINEL_PASSWORD },
  ...changes,
});

test('a prefix holds behind a Sentinel with users and passwords, also in a backup that is restored', async () => {
  const raw = new Redis({ port: group.port, username: 'agency', password: PASSWORD });

  await expectPrefixHolds(settings(), () => raw.keys('*'));

  raw.disconnect();
});

test.each([
  [
    { name: 'other' },
    'the Sentinel group "other": the sentinels know no group of that name: correct "name".',
  ],
  [{ atSentinels: {} }, 'the sentinels require a password (NOAUTH): set "sentinel_password".'],
  [
    { atSentinels: { username: 'watcher', password: 'wrong' } },
    'the sentinels refuse the user name or the password (WRONGPASS): correct "sentinel_username" and "sentinel_password".',
  ],
  [{ password: 'wrong' }, 'it refuses the user name or the password (WRONGPASS)'],
  [{ sentinels: [{ host: '127.0.0.1', port: 1 }] }, 'no sentinel answers: correct "sentinels"'],
])('what is wrong in %j is named', async (changes, why) => {
  await expect(connectRedis(settings(changes), '/nowhere', keptLog())).rejects.toThrow(why);
});
