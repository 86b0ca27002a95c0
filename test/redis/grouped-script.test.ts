import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineScript } from '../../src/redis/script.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';

const add = defineScript(
  { isGrouped: true, keys: ['list'], args: ['value'], argList: 'more' },
  `if args.value == 'wrong' then return redis.call('HGET', keys.list, 'a') end
if args.value == 'nothing' then return false end
redis.call('RPUSH', keys.list, args.value, unpack(more))
return {keys.list, redis.call('LLEN', keys.list)}`,
);

let server: TestRedis;
let redis: Redis;
beforeEach(async () => {
  server = await startTestRedis();
  redis = new Redis({ ...server.options, keyPrefix: 'team:' });
  redis.on('error', () => undefined);
});
afterEach(async () => {
  redis.disconnect();
  await server.stop();
});

const call = (list: string, value: string, ...argList: string[]) =>
  add(redis, { keys: { list }, args: { value }, argList });

const scriptsRun = async () =>
  Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0) +
  Number(/cmdstat_eval:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);

test('calls of one turn are one script, with the keys, the arguments and the reply of each, in their order', async () => {
  const replies = await Promise.all([
    call('a', '1'),
    call('b', '2', '3', '4'),
    call('a', 'nothing'),
    call('a', '5'),
  ]);

  expect(replies).toEqual([['team:a', 1], ['team:b', 3], null, ['team:a', 2]]);
  expect(await redis.lrange('b', 0, -1)).toEqual(['2', '3', '4']);
  expect(await scriptsRun()).toBe(1);
});

test('an error of one call is the error of that call alone', async () => {
  await redis.rpush('a', '0');
  const replies = await Promise.allSettled([call('a', '1'), call('a', 'wrong'), call('a', '2')]);

  expect(replies).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: { message: expect.stringContaining('WRONGTYPE') } },
    { status: 'fulfilled', value: ['team:a', 3] },
  ]);
  await expect(call('a', 'wrong')).rejects.toThrow('WRONGTYPE');
});

test('of more calls than a script takes, each has its effect once, also after Redis lost its scripts', async () => {
  const values = Array.from({ length: 60 }, (_, index) => String(index));
  await Promise.all(values.map((value) => call('a', value)));
  await redis.script('FLUSH');
  await Promise.all(values.map((value) => call('a', value)));

  expect(await redis.lrange('a', 0, -1)).toEqual([...values, ...values]);
});

test('a call that Redis cannot answer is refused with all of its turn', async () => {
  await redis.ping();
  redis.options.retryStrategy = () => null;
  await server.kill();

  const replies = await Promise.allSettled([call('a', '1'), call('a', '2')]);

  expect(replies.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
