/** Connections to Redis, wherever the settings say it is. */
import { Cluster, Redis } from 'ioredis';
import { CaretakerError } from '../errors.ts';
import type { Log } from '../log.ts';
import { scrub } from '../secrets.ts';
import { type EmbeddedRedis, openEmbeddedRedis } from './embedded/embedded.ts';
import { wrongProtocol } from './protocol-probe.ts';
import { unreachableBecause } from './refusal.ts';
import type { Store } from './store.ts';

/** Where Redis is: a private server of ours in the data folder, a URL, or a group of servers. */
export type RedisSettings =
  | { kind: 'embedded' }
  | { kind: 'url'; url: string }
  | { kind: 'sentinel'; sentinels: { host: string; port: number }[]; name: string; password?: string }
  | { kind: 'cluster'; nodes: { host: string; port: number }[]; password?: string };

/** Redis does not answer where the settings say it is. */
export class RedisUnreachableError extends CaretakerError {
  readonly code = 'REDIS_UNREACHABLE';
  constructor(where: string, why: string, options?: ErrorOptions) {
    const advice = why.includes(':') ? '' : ' Start it, or set REDIS_URL.';
    super(`Redis cannot be reached at ${where}: ${why}.${advice}`, options);
  }
}

export interface Connected {
  store: Store;
  /** Where Redis is, safe to show. */
  where: string;
  /** Set when the server is ours. */
  embedded?: EmbeddedRedis;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Once connected, a command waits for as long as Redis is away, and is sent again when it is back: work
 * stands still and goes on, it does not fail. Only the first contact has a time limit.
 */
const patient = {
  maxRetriesPerRequest: null,
  retryStrategy: (times: number) => Math.min(times * 100, 1_000),
  connectTimeout: CONNECT_TIMEOUT_MS,
  lazyConnect: true,
};

/**
 * Opens the connection, starting the embedded server where that is what the settings ask for.
 *
 * @throws {RedisUnreachableError} when Redis does not answer within five seconds.
 * @throws {RedisMissingError} when an embedded one is asked for and no server program is installed.
 */
export async function connectRedis(settings: RedisSettings, dataDir: string, log: Log): Promise<Connected> {
  if (settings.kind === 'embedded') {
    const embedded = await openEmbeddedRedis({ dataDir, log });
    const { store } = await contact(
      new Redis({ ...patient, path: embedded.socketPath }),
      'the embedded server',
      log,
    );
    return {
      store,
      where: `embedded in ${dataDir}`,
      embedded,
      async close() {
        await hangUp(store);
        await embedded.close();
      },
    };
  }
  const { client, where } = externalClient(settings);
  return contact(client, where, log, settings.kind === 'url' ? settings.url : undefined);
}

function externalClient(settings: Exclude<RedisSettings, { kind: 'embedded' }>): {
  client: Store;
  where: string;
} {
  switch (settings.kind) {
    case 'url':
      return { client: new Redis(settings.url, patient), where: scrub(settings.url) };
    case 'sentinel': {
      const password = settings.password === undefined ? {} : { password: settings.password };
      const client = new Redis({
        ...patient,
        ...password,
        sentinels: settings.sentinels,
        name: settings.name,
      });
      return { client, where: `the Sentinel group "${settings.name}"` };
    }
    case 'cluster': {
      const password = settings.password === undefined ? {} : { password: settings.password };
      const client = new Cluster(settings.nodes, {
        lazyConnect: true,
        redisOptions: { ...password, maxRetriesPerRequest: null, connectTimeout: CONNECT_TIMEOUT_MS },
        clusterRetryStrategy: (times) => Math.min(times * 100, 1_000),
      });
      return { client, where: 'the Redis Cluster' };
    }
  }
}

async function contact(store: Store, where: string, log: Log, url?: string): Promise<Connected> {
  let first: Error | undefined;
  let met = false;
  let told: string | undefined;
  store.on('error', (error: Error) => {
    first ??= error;
    const why = unreachableBecause(error);
    // Each try to connect again fails in the same way: a person is told once, and again when the cause is
    // another.
    if (met && why !== told) log.warn(`Redis is unavailable (${why}); work continues when it is back`);
    told = why;
  });
  store.on('ready', () => {
    if (told !== undefined && met) log.info('Redis is available again; work continues');
    told = undefined;
  });
  const given = new Promise<never>((_, reject) => {
    setTimeout(
      () => reject(new Error(`no answer within ${CONNECT_TIMEOUT_MS / 1000} s`)),
      CONNECT_TIMEOUT_MS,
    ).unref();
  });
  try {
    await Promise.race([store.connect().then(() => store.ping()), given]);
  } catch (error) {
    store.disconnect();
    const cause = first ?? error;
    const protocol = url !== undefined && isMute(cause) ? await wrongProtocol(url) : undefined;
    throw new RedisUnreachableError(where, protocol ?? unreachableBecause(cause), { cause });
  }
  met = true;
  return { store, where, close: () => hangUp(store) };
}

/** Whether nobody said why there is no connection: no code of the system, of TLS or of Redis. */
const isMute = (cause: unknown): boolean =>
  cause instanceof Error &&
  !('code' in cause) &&
  /^(Connection is closed|no answer within)/.test(cause.message);

async function hangUp(store: Store): Promise<void> {
  await Promise.race([
    store.quit().catch(() => undefined),
    new Promise((done) => setTimeout(done, 1_000).unref()),
  ]);
  store.disconnect();
}
