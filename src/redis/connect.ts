/** Connections to Redis, as configured in the settings. */
import type { Writable } from 'node:stream';
import { Cluster, Redis } from 'ioredis';
import { defined } from '../defined.ts';
import { CaretakerError } from '../errors.ts';
import type { Log } from '../log.ts';
import { scrub } from '../secrets.ts';
import { type EmbeddedRedis, openEmbeddedRedis } from './embedded/embedded.ts';
import { factIn, wrongProtocol } from './facts.ts';
import { commandRefusal, MIN_REDIS, unreachableBecause } from './refusal.ts';
import type { Store } from './store.ts';

/** Where Redis is: a private server in the data folder, a URL, or a group of servers. */
export type RedisSettings = { prefix?: string } & RedisAddress;
type RedisAddress =
  | { kind: 'embedded' }
  | { kind: 'url'; url: string }
  | { kind: 'socket'; path: string; db: number }
  | ({ kind: 'sentinel'; sentinels: Server[]; name: string; atSentinels?: RedisSignIn } & RedisSignIn)
  | ({ kind: 'cluster'; nodes: Server[] } & RedisSignIn);
interface Server {
  host: string;
  port: number;
}
/** How one signs in at each server of a group. */
export interface RedisSignIn {
  username?: string;
  password?: string;
  tls?: boolean;
}

/** Redis does not answer at the configured address. */
export class RedisUnreachableError extends CaretakerError {
  readonly code = 'REDIS_UNREACHABLE';
  constructor(where: string, why: string, options?: ErrorOptions) {
    const advice = why.includes(':') ? '' : ' Start it, or set REDIS_URL.';
    super(`Redis cannot be reached at ${where}: ${why}.${advice}`, options);
  }
}

/** Redis is older than any with which Caretaker works. */
export class RedisTooOldError extends CaretakerError {
  readonly code = 'REDIS_TOO_OLD';
  constructor(where: string, version: string) {
    super(
      `The Redis at ${where} is ${version}, which is too old: ${MIN_REDIS.join('.')} or newer is required.`,
    );
  }
}

export interface Connected {
  store: Store;
  /** Where Redis is, without secrets. */
  where: string;
  /** Set when the server is the embedded one. */
  embedded?: EmbeddedRedis;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
const PERMISSIONS_KEY = '{caretaker}:permissions';

/**
 * A connection on which an answer is due for so long is broken, although nothing says so: its other end has vanished
 * behind a proxy or a firewall. Longer than a worker waits for an entry (`WAIT_S` in `queue/queues.ts`).
 */
const SILENT_MS = 20_000;
/** A connection that is lost and made again within this time is not reported. */
const UNREPORTED_MS = 1_000;

/** For so long a command waits for the new primary after a failover. A replica that stays one refuses it afterwards. */
const FAILOVER_MS = 5_000;

/**
 * After a failover behind one address, an open connection stays with the old primary, which is a replica now and refuses
 * to write. A new connection reaches the new one.
 */
const reconnectOnError = ({ message }: Error): boolean => /^(READONLY|UNBLOCKED)\b/.test(message);

/** The same, and the refused command is sent again on the new connection: for the client, 2 means that. */
function resendOnError(failoverMs: number): (error: Error & { command?: { args: object } }) => boolean | 2 {
  /** When a command was refused first, by its arguments: they are the same object whenever it is sent. */
  const refusedAt = new WeakMap<object, number>();
  return (error) => {
    if (!reconnectOnError(error)) return false;
    const { args } = error.command ?? {};
    if (!args) return true;
    const now = performance.now();
    const since = refusedAt.get(args) ?? now;
    refusedAt.set(args, since);
    return now - since > failoverMs || 2;
  };
}

/**
 * Once connected, a command waits while Redis is unavailable and is sent again when it is back. So work stops
 * and continues, and does not fail. Only the first connection attempt has a time limit.
 */
const retryOptions = {
  maxRetriesPerRequest: null,
  retryStrategy: (times: number) => Math.min(times * 100, 1_000),
  connectTimeout: CONNECT_TIMEOUT_MS,
  reconnectOnError,
  lazyConnect: true,
};

/**
 * Opens the connection, and starts the embedded server if the settings ask for it.
 *
 * @throws {RedisUnreachableError} when Redis does not answer within five seconds, or its user may not run scripts or `INFO`.
 * @throws {RedisTooOldError}
 * @throws {RedisMissingError} when the embedded server is configured and no server program is installed.
 */
export async function connectRedis(
  settings: RedisSettings,
  dataDir: string,
  log: Log,
  { silentMs = SILENT_MS, failoverMs = FAILOVER_MS }: { silentMs?: number; failoverMs?: number } = {},
): Promise<Connected> {
  const common = { ...retryOptions, ...prefixOf(settings), socketTimeout: silentMs };
  if (settings.kind === 'embedded') {
    const embedded = await openEmbeddedRedis({ dataDir, log });
    const { store } = await openStore(
      new Redis({ ...common, path: embedded.socketPath }),
      'the embedded server',
      log,
    );
    return {
      store,
      where: `embedded in ${dataDir}`,
      embedded,
      async close() {
        await disconnect(store);
        await embedded.close();
      },
    };
  }
  const { client, where } = externalClient(settings, common);
  const opened = await openStore(client, where, log, settings.kind === 'url' ? settings.url : undefined);
  // Not before: of a first connection to a replica, the refusal is reported. A Cluster finds the primary by itself.
  if (client instanceof Redis) client.options.reconnectOnError = resendOnError(failoverMs);
  return opened;
}

/** The client puts it before every key: see `keyPrefixOf` for what it does not see. */
const prefixOf = ({ prefix }: RedisSettings): { keyPrefix?: string } =>
  prefix === undefined ? {} : { keyPrefix: `${prefix}:` };

const signInWith = ({ username, password, tls }: RedisSignIn) => ({
  ...defined({ username, password }),
  ...(tls ? { tls: {} } : {}),
});

function externalClient(
  settings: RedisSettings & Exclude<RedisAddress, { kind: 'embedded' }>,
  common: typeof retryOptions & { keyPrefix?: string; socketTimeout: number },
): { client: Store; where: string } {
  switch (settings.kind) {
    case 'url':
      return {
        client: new Redis(settings.url, common),
        where: scrub(settings.url),
      };
    case 'socket': {
      const { path, db } = settings;
      return {
        client: new Redis({ ...common, path, db }),
        where: `unix:${path}`,
      };
    }
    case 'sentinel': {
      const { sentinels, name, atSentinels: { username, password, tls } = {} } = settings;
      let wasReady = false;
      const client = new Redis({
        ...common,
        ...signInWith(settings),
        ...{ sentinels, name, enableTLSForSentinelMode: settings.tls ?? false },
        // As of any other Redis, the first attempt is not repeated.
        sentinelRetryStrategy: (times) => (wasReady ? Math.min(times * 100, 1_000) : null),
        ...defined({ sentinelUsername: username, sentinelPassword: password }),
        ...(tls ? { sentinelTLS: {} } : {}),
      });
      client.once('ready', () => {
        wasReady = true;
      });
      return { client, where: `the Sentinel group "${settings.name}"` };
    }
    case 'cluster': {
      const client = new Cluster(settings.nodes, {
        lazyConnect: true,
        ...prefixOf(settings),
        redisOptions: {
          ...signInWith(settings),
          maxRetriesPerRequest: null,
          connectTimeout: CONNECT_TIMEOUT_MS,
          socketTimeout: common.socketTimeout,
        },
        clusterRetryStrategy: (times) => Math.min(times * 100, 1_000),
      });
      return { client, where: 'the Redis Cluster' };
    }
  }
}

async function openStore(store: Store, where: string, log: Log, url?: string): Promise<Connected> {
  let first: Error | undefined;
  let atSentinel: Error | undefined;
  let isConnected = false;
  let reported: string | undefined;
  let closed: NodeJS.Timeout | undefined;
  // Every reconnection attempt fails in the same way. Log it once, and again when the cause changes.
  const report = (why: string) => {
    if (isConnected && why !== reported)
      log.warn(`Redis is unavailable (${why}); work continues when it is back`);
    reported = why;
  };
  store.on('sentinelError', (error: Error) => {
    atSentinel = error;
  });
  store.on('error', (error: Error) => {
    // "All sentinels are unreachable" does not say why.
    const cause = atSentinel ?? error;
    atSentinel = undefined;
    first ??= cause;
    report(unreachableBecause(cause));
  });
  store.on('close', () => {
    closed ??= setTimeout(() => {
      if (reported === undefined) report('the connection was closed');
    }, UNREPORTED_MS).unref();
  });
  store.on('end', () => clearTimeout(closed));
  if (store instanceof Redis) store.on('connect', () => joinWrites(store.stream));
  store.on('ready', () => {
    clearTimeout(closed);
    closed = undefined;
    atSentinel = undefined;
    if (reported !== undefined && isConnected) log.info('Redis is available again; work continues');
    reported = undefined;
  });
  const timeout = new Promise<never>((_, reject) => {
    setTimeout(
      () => reject(new Error(`no answer within ${CONNECT_TIMEOUT_MS / 1000} s`)),
      CONNECT_TIMEOUT_MS,
    ).unref();
  });
  try {
    const check = () => Promise.all([selectDatabase(store), checkServer(store, where)]);
    await Promise.race([store.connect().then(check), timeout]);
  } catch (error) {
    store.disconnect();
    if (error instanceof RedisTooOldError) throw error;
    const cause = first ?? error;
    const protocol = url !== undefined && hasNoCause(cause) ? await wrongProtocol(url) : undefined;
    throw new RedisUnreachableError(where, protocol ?? unreachableBecause(cause), { cause });
  }
  isConnected = true;
  return { store, where, close: () => disconnect(store) };
}

/** Sends with one system call what is written in one turn, in the same order: a page asks for hundreds of keys at once. */
function joinWrites(stream: Writable): void {
  const write: Writable['write'] = stream.write.bind(stream);
  let isCorked = false;
  const joined = (...written: Parameters<typeof write>) => {
    if (!isCorked) {
      isCorked = true;
      stream.cork();
      process.nextTick(() => {
        isCorked = false;
        stream.uncork();
      });
    }
    return write(...written);
  };
  stream.write = joined as typeof write;
}

/** The client ignores that a database does not exist, and works on database 0 then. */
async function selectDatabase(store: Store): Promise<void> {
  const db = store instanceof Redis ? (store.options.db ?? 0) : 0;
  if (store instanceof Redis && db !== 0) await store.select(db);
  else await store.ping();
}

/** BullMQ would notice by itself, and try again for ever, at once. */
async function checkServer(store: Store, where: string): Promise<void> {
  const [info] = await Promise.all([store.info('server'), checkPermissions(store)]);
  const version = factIn(info, 'redis_version') ?? '';
  const [major, minor = 0] = version.split('.').map(Number);
  // A managed Redis may not report it.
  if (!major) return;
  if (major < MIN_REDIS[0] || (major === MIN_REDIS[0] && minor < MIN_REDIS[1]))
    throw new RedisTooOldError(where, version);
}

/** Uses every kind of record once: a run that is refused halfway would be in the way of the next one. */
const EACH_KIND = `
local key = KEYS[1]
redis.call('DEL', key)
for _, write in ipairs({
  {'SET', key, '1'}, {'HSET', key, 'a', '1'}, {'SADD', key, 'a'}, {'ZADD', key, 1, 'a'}, {'LPUSH', key, 'a'},
  {'XADD', key, '*', 'a', '1'}
}) do
  redis.call(unpack(write))
  redis.call('DEL', key)
end
redis.call('PUBLISH', key, '1')
`;

/** Only a refused command matters here: that nothing can be written for other reasons is reported when it is needed. */
async function checkPermissions(store: Store): Promise<void> {
  try {
    await store.eval(EACH_KIND, 1, PERMISSIONS_KEY);
  } catch (error) {
    if (commandRefusal(error) !== undefined) throw error;
  }
}

/** Whether an error shows no cause: no system, TLS or Redis error code. */
const hasNoCause = (cause: unknown): boolean =>
  cause instanceof Error &&
  !('code' in cause) &&
  /^(Connection is closed|no answer within)/.test(cause.message);

async function disconnect(store: Store): Promise<void> {
  await Promise.race([
    store.quit().catch(() => undefined),
    new Promise((done) => setTimeout(done, 1_000).unref()),
  ]);
  store.disconnect();
}
