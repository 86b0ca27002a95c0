/**
 * What is wrong with a Redis that answers: it refuses to write, throws records away, or has a queue that
 * somebody paused.
 */
import type { Cluster, Redis } from 'ioredis';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { writeRefusal } from './refusal.ts';
import type { Store } from './store.ts';

/** Written to see whether Redis takes writes. */
const PROBE_KEY = '{caretaker}:probe';

/** Says which queues another client has paused. */
interface Queues {
  paused(): Promise<string[]>;
}

export interface RedisTrouble {
  /** Whether work stands still for it; else it is only to be looked at. */
  stops: boolean;
  /** One sentence without its end: what it is, and what to do. */
  says: string;
  /** It refuses to write: no process can show that it is there. */
  refuses?: true;
}

/** Looks what is wrong. Costs a write, and a few reads. */
export async function redisTroubles(store: Store, queues: Queues): Promise<RedisTrouble[]> {
  const [refusal, evicting, paused] = await Promise.all([
    refusalOf(store),
    evictingOf(store),
    queues.paused(),
  ]);
  return [
    ...(refusal === undefined ? [] : [{ stops: true, says: refusal, refuses: true as const }]),
    ...evicting.map((says) => ({ stops: false, says })),
    ...paused.map((queue) => ({
      stops: true,
      says: `the queue "${queue}" was paused by another BullMQ client, and no entry of it is processed: "caretaker queues resume" resumes it`,
    })),
  ];
}

/** Why Redis refuses to write, asked by writing. */
export async function refusalOf(store: Store): Promise<string | undefined> {
  try {
    await store.set(PROBE_KEY, '1', 'PX', 60_000);
    return undefined;
  } catch (error) {
    const refusal = writeRefusal(error);
    if (refusal === undefined) throw error;
    return refusal;
  }
}

/** Where Redis throws records away, or would when it is full. */
async function evictingOf(store: Store): Promise<string[]> {
  const nodes = store.isCluster ? (store as Cluster).nodes('master') : [store as Redis];
  const found = await Promise.all(nodes.map((node) => node.info().catch(() => '')));
  const says = found.flatMap((info) => {
    const fact = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
    const policy = fact('maxmemory_policy');
    const evicted = Number(fact('evicted_keys'));
    if (policy === '' || policy === 'noeviction') return [];
    const so = `maxmemory-policy is ${policy}: set it to noeviction`;
    return evicted > 0
      ? [`Redis was full and has thrown ${evicted} keys away, records of ours perhaps among them (${so})`]
      : [`Redis may throw our records away when it is full (${so})`];
  });
  return [...new Set(says)];
}

const CHECK_INTERVAL_MS = 5_000;

export interface RedisWatch {
  /** What was wrong at the last look. */
  troubles(): readonly RedisTrouble[];
  close(): Promise<void>;
}

/** Looks every five seconds, and logs what changes: each trouble once, and once that it is over. */
export function watchRedis({
  store,
  queues,
  clock,
  log,
}: {
  store: Store;
  queues: Queues;
  clock: Clock;
  log: Log;
}): RedisWatch {
  const closing = new AbortController();
  let troubles: readonly RedisTrouble[] = [];
  const look = async () => {
    const before = new Set(troubles.map(kind));
    troubles = await redisTroubles(store, queues);
    const now = new Set(troubles.map(kind));
    for (const one of troubles) if (!before.has(kind(one))) log[one.stops ? 'error' : 'warn'](one.says);
    if ([...before].some((one) => !now.has(one)) && !troubles.some(({ stops }) => stops))
      log.info('Redis works again; work continues');
  };
  const looking = (async () => {
    while (!closing.signal.aborted) {
      await look().catch((error: unknown) => log.debug({ err: error }, 'Redis could not be looked at'));
      await clock.sleep(CHECK_INTERVAL_MS, closing.signal);
    }
  })();
  return {
    troubles: () => troubles,
    async close() {
      closing.abort();
      await looking;
    },
  };
}

/** What is wrong, without what changes from look to look. */
const kind = ({ says }: RedisTrouble): string => says.replace(/\d+/g, '#');
