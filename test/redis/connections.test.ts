/** Connections that become useless although they stay open. Only real servers behind a proxy show what the client does. */
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer, type Server } from 'node:net';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { Channels } from '../../src/records/events.ts';
import { type Connected, connectRedis } from '../../src/redis/connect.ts';
import { runGrouped } from '../../src/redis/grouped-script.ts';
import { keptLog } from '../support/quiet.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';

let first: TestRedis;
let connected: Connected | undefined;
let proxy: Server;
/** The server that new connections reach, what it says its version is, and the sockets of the open ones. */
let target: string;
let version: string | undefined;
const open = new Set<{ near: Socket; far: Socket }>();
/** Of this test alone: a closed connection is logged a second later. */
let log: ReturnType<typeof keptLog>;

beforeEach(async () => {
  log = keptLog();
  version = undefined;
  first = await startTestRedis();
  target = first.socketPath;
  proxy = createServer((near) => {
    const pair = { near, far: connect(target) };
    open.add(pair);
    for (const socket of [near, pair.far]) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        near.end();
        pair.far.end();
        open.delete(pair);
      });
    }
    near.pipe(pair.far);
    pair.far.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      near.write(version ? text.replace(/(redis_version:)[\d.]{6}/, `$1${version}`) : text, 'latin1');
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
});
afterEach(async () => {
  await connected?.close();
  connected = undefined;
  proxy.close();
  for (const { near } of open) near.destroy();
  await first.stop();
});

async function connectBehindProxy(options: Parameters<typeof connectRedis>[3] = {}): Promise<Connected> {
  const url = `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  connected = await connectRedis({ kind: 'url', url }, '/nowhere', log, options);
  return connected;
}

/** Nothing passes through the open connections any more, and nothing says so. */
const silence = () => {
  for (const { near, far } of open) {
    near.unpipe(far);
    far.removeAllListeners('data');
    near.resume();
  }
};

/** The server becomes a replica, and another one is the primary at its address. */
async function failover(store: Connected['store']): Promise<void> {
  const second = await startTestRedis();
  onTestFinished(() => second.stop());
  await store.call('REPLICAOF', '127.0.0.1', '1');
  target = second.socketPath;
}

test('after a failover behind one address, what the old primary refuses is sent to the new one', async () => {
  const { store } = await connectBehindProxy();
  await store.set('key', 'written');
  await failover(store);

  await store.eval("return redis.call('SET', KEYS[1], 'written to the new primary')", 1, 'key');

  expect(await store.get('key')).toBe('written to the new primary');
});

test('so are the scripts of one turn, each of which the old primary refuses', async () => {
  const { store } = await connectBehindProxy();
  const add = (value: string) =>
    runGrouped(store, "return redis.call('RPUSH', KEYS[1], ARGV[1])", ['key'], [value]);
  await add('written');
  await failover(store);

  expect(await Promise.all([add('a'), add('b')])).toEqual([1, 2]);

  expect(await store.lrange('key', 0, -1)).toEqual(['a', 'b']);
});

test('where a replica stays at the address, a refused command fails at last', async () => {
  const { store } = await connectBehindProxy({ failoverMs: 200 });
  await store.call('REPLICAOF', '127.0.0.1', '1');

  await expect(store.set('key', 'refused')).rejects.toThrow('READONLY');
});

test('a connection whose answers stop coming is made again, logged, and loses no command', async () => {
  const { store } = await connectBehindProxy({ silentMs: 1_000 });
  await store.set('key', 'written');
  silence();

  expect(await store.get('key')).toBe('written');

  expect(log.lines).toEqual([
    'warn Redis is unavailable (the connection is open, and no answer comes); work continues when it is back',
    'info Redis is available again; work continues',
  ]);
});

test('a worker that waits for an entry is not taken for a broken connection', async () => {
  const { store } = await connectBehindProxy({ silentMs: 2_000 });

  const worker = (store as Redis).duplicate();

  expect(await worker.blpop('nothing', 1)).toBeNull();

  worker.disconnect();
  expect(log.lines).toEqual([]);
});

test('what is published is heard again after the connection for it has gone silent', async () => {
  const { store } = await connectBehindProxy({ silentMs: 200 });
  const channels = new Channels(store, 50);
  const heard: string[] = [];
  let hear = () => {};
  const stop = await channels.listen('news', (message) => {
    heard.push(message);
    hear();
  });
  silence();
  const next = new Promise<void>((resolve) => {
    hear = resolve;
  });
  for (const told = { yet: false }; !told.yet; ) {
    await store.publish('news', 'again');
    await Promise.race([next.then(() => (told.yet = true)), new Promise((done) => setTimeout(done, 50))]);
  }
  await stop();

  expect(heard[0]).toBe('again');
});

test('a channel that Redis refused is asked for again by the next one that listens', async () => {
  const { store } = await connectBehindProxy();
  const user = (...rules: string[]) => (store as Redis).call('ACL', 'SETUSER', 'default', ...rules);
  const channels = new Channels(store);
  const stopNews = await channels.listen('news', () => undefined);
  await user('resetchannels', '&news');
  await expect(channels.listen('weather', () => undefined)).rejects.toThrow('NOPERM');
  await user('allchannels');

  let hear = (_: string) => {};
  const heard = new Promise<string>((resolve) => {
    hear = resolve;
  });
  const stop = await channels.listen('weather', (message) => hear(message));
  await store.publish('weather', 'rain');

  expect(await heard).toBe('rain');
  await stop();
  await stopNews();
});

test('to stop listening while a lost connection subscribes again leaves no unhandled rejection', async () => {
  const { store } = await connectBehindProxy();
  const duplicate = vi.spyOn(store as Redis, 'duplicate');
  const stop = await new Channels(store).listen('news', () => undefined);
  const subscriber = duplicate.mock.results[0]?.value as Redis;
  const rejected: unknown[] = [];
  const note = (reason: unknown) => rejected.push(reason);
  process.on('unhandledRejection', note);
  const ended = once(subscriber, 'end');
  subscriber.once('ready', () => {
    void stop();
    (subscriber as unknown as { stream: Socket }).stream.destroy();
  });
  (subscriber as unknown as { stream: Socket }).stream.destroy();
  await ended;
  await new Promise(setImmediate);
  process.off('unhandledRejection', note);

  expect(rejected).toEqual([]);
});

test('a connection that is cut and cannot be made again is logged once', async () => {
  const { store } = await connectBehindProxy();
  await store.set('key', 'written');
  target = '/nowhere/redis.sock';
  const warned = new Promise<void>((resolve) => {
    vi.spyOn(log, 'warn').mockImplementationOnce((said: string | object) => {
      log.lines.push(`warn ${said}`);
      resolve();
    });
  });
  for (const { near } of open) near.end();

  await warned;
  target = first.socketPath;
  expect(await store.get('key')).toBe('written');

  expect(log.lines[0]).toBe(
    'warn Redis is unavailable (the connection was closed); work continues when it is back',
  );
});

test.each([
  ['-info', 'INFO'],
  ['-eval -evalsha', 'EVAL'],
  // Before a run is recorded that could not be queued.
  ['-xadd', 'EVAL'],
])('a user who may not do what is needed (%s) is refused at the start', async (rules, command) => {
  const admin = await connectBehindProxy();
  await admin.store.call(
    'ACL',
    'SETUSER',
    'agency',
    'on',
    '>secret',
    '~*',
    '&*',
    '+@all',
    ...rules.split(' '),
  );
  const { port } = proxy.address() as AddressInfo;

  await expect(
    connectRedis({ kind: 'url', url: `redis://agency:secret@127.0.0.1:${port}` }, '/nowhere', log),
  ).rejects.toThrow(
    `its user may not use the command ${command}, or one that it needs (NOPERM): allow it all commands, keys and channels`,
  );
});

test('a Redis that is too old is refused at the start', async () => {
  version = '4.0.14';

  await expect(connectBehindProxy()).rejects.toThrow(
    /^The Redis at redis:.* is 4\.0\.14, which is too old: 6\.2 or newer is required\.$/,
  );
});
