/** Why Redis cannot be reached, as every command and the daemon report it. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { createServer as createTls } from 'node:tls';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectRedis } from '../../src/redis/connect.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from '../support/certificate.ts';
import { openDesk } from '../support/cli.ts';
import { keptLog } from '../support/quiet.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';

let redis: TestRedis;
let servers: Server[] = [];
beforeEach(async () => {
  redis = await startTestRedis();
});
afterEach(async () => {
  for (const server of servers) server.close();
  servers = [];
  await redis.stop();
});

async function portOf(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Forwards a connection to Redis. */
const toRedis = (socket: Socket): void => {
  const inner = connect(redis.socketPath);
  socket.pipe(inner).pipe(socket);
  for (const [one, other] of [
    [socket, inner],
    [inner, socket],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
};
const plainPort = () => portOf(createServer(toRedis));
function tlsPort(): Promise<number> {
  const server = createTls({ key: CERTIFICATE_KEY, cert: CERTIFICATE }, toRedis);
  server.on('tlsClientError', () => undefined);
  return portOf(server);
}

async function refusalOf(url: string): Promise<string> {
  try {
    const { close } = await connectRedis({ kind: 'url', url }, '/nowhere', keptLog());
    await close();
    return 'reached';
  } catch (error) {
    return (error as Error).message;
  }
}

test('a wrong or missing password is reported as the cause', async () => {
  const port = await plainPort();
  const admin = new Redis(redis.options);
  await admin.config('SET', 'requirepass', 'right');

  expect(await refusalOf(`redis://:wrong@127.0.0.1:${port}`)).toBe(
    `Redis cannot be reached at redis://:[hidden]@127.0.0.1:${port}: it refuses the user name or the password (WRONGPASS): correct them in the configuration.`,
  );
  expect(await refusalOf(`redis://127.0.0.1:${port}`)).toContain('it requires a password (NOAUTH)');
  expect(await refusalOf(`redis://:right@127.0.0.1:${port}`)).toBe('reached');
  admin.disconnect();
});

test('TLS on one side only is reported as the cause, with the correct URL scheme', async () => {
  const [plain, tls] = [await plainPort(), await tlsPort()];

  expect(await refusalOf(`rediss://127.0.0.1:${plain}`)).toContain(
    'the server does not use TLS: use redis:// instead of rediss://.',
  );
  expect(await refusalOf(`redis://127.0.0.1:${tls}`)).toContain(
    'the server requires TLS: use rediss:// instead of redis://.',
  );
});

test('a server that is not Redis is reported as such', async () => {
  const port = await portOf(createHttp((_request, response) => response.end()));
  expect(await refusalOf(`redis://127.0.0.1:${port}`)).toContain('what responds there is not Redis.');
});

test('a certificate of an unknown authority is reported with NODE_EXTRA_CA_CERTS, which works', async () => {
  const port = await tlsPort();
  const url = `rediss://localhost:${port}`;
  expect(await refusalOf(url)).toContain(
    'set NODE_EXTRA_CA_CERTS to a file with the certificate of that authority.',
  );

  const file = join(dirname(redis.socketPath), 'authority.pem');
  writeFileSync(file, CERTIFICATE);
  const desk = openDesk({
    REDIS_URL: url,
    CARETAKER_BASE_URL: 'http://127.0.0.1:1/api/v6',
    CARETAKER_API_TOKEN: 't',
  });
  const withIt = await desk.spawn(['runs'], { NODE_EXTRA_CA_CERTS: file }).ended;
  await desk.clear();

  expect(withIt.code).toBe(0);
});

test('a daemon logs a changed password once, and once that Redis is available again', async () => {
  const port = await plainPort();
  const admin = new Redis(redis.options);
  const log = keptLog();
  const { store, close } = await connectRedis(
    { kind: 'url', url: `redis://127.0.0.1:${port}` },
    '/nowhere',
    log,
  );
  await admin.config('SET', 'requirepass', 'changed');
  await admin.auth('changed');
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');

  const said = (pattern: RegExp) => log.lines.filter((line) => pattern.test(line));
  while (said(/Redis is unavailable \(it requires a password/).length === 0)
    await new Promise((done) => setTimeout(done, 20));
  // A few more connection attempts.
  await new Promise((done) => setTimeout(done, 1_500));
  expect(said(/Redis is unavailable \(it requires a password/)).toHaveLength(1);

  await admin.config('SET', 'requirepass', '');
  while (said(/Redis is available again/).length === 0) await new Promise((done) => setTimeout(done, 20));
  expect(await store.ping()).toBe('PONG');
  admin.disconnect();
  await close();
});

test('a database that the server does not have is refused, in place of working on database 0', async () => {
  const port = await plainPort();
  const at = `redis://127.0.0.1:${port}`;
  expect(await refusalOf(`${at}/99`)).toContain('it does not have the database of the address');
  expect(await refusalOf(`${at}/3`)).toBe('reached');

  const socket = { kind: 'socket', path: redis.socketPath } as const;
  const { store, close } = await connectRedis({ ...socket, db: 3 }, '/nowhere', keptLog());
  await store.set('here', '1');
  await close();
  const third = new Redis({ path: redis.socketPath, db: 3 });
  expect(await third.get('here')).toBe('1');
  third.disconnect();
  await expect(connectRedis({ ...socket, db: 99 }, '/nowhere', keptLog())).rejects.toThrow(
    `Redis cannot be reached at unix:${redis.socketPath}: it does not have the database`,
  );
});
