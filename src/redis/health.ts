/** Detects problems of a Redis that answers: it refuses writes, evicts keys, or has a paused queue. */
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { factIn, type RedisFacts, readFacts } from './facts.ts';
import { commandRefusal, writeRefusal } from './refusal.ts';
import type { Store } from './store.ts';

/** Written to check whether Redis accepts writes. Not a record: it expires. */
export const PROBE_KEY = '{caretaker}:probe';

/** Returns the queues that another client has paused. */
interface Queues {
  paused(): Promise<string[]>;
}

export interface RedisTrouble {
  /** Whether work stops because of it. Otherwise it is only a warning. */
  stops: boolean;
  /** One sentence without a full stop: the problem, and what to do. */
  message: string;
  /** It refuses writes: no process can renew its presence record. */
  refuses?: true;
  /** The queue that is paused. */
  queue?: string;
}

interface RedisCheck {
  troubles: RedisTrouble[];
  /** Of each server. */
  facts: RedisFacts[];
}

/** Detects problems. Costs a write and a few reads. */
export const redisTroubles = async (store: Store, queues: Queues): Promise<RedisTrouble[]> =>
  (await checkRedis(store, queues)).troubles;

async function checkRedis(store: Store, queues: Queues): Promise<RedisCheck> {
  let read: Awaited<ReturnType<typeof readAll>>;
  try {
    read = await readAll(store, queues);
  } catch (error) {
    const refused = commandRefusal(error);
    if (refused === undefined) throw error;
    return {
      troubles: [{ stops: true, message: `Redis refuses work: ${refused}`, refuses: true }],
      facts: [],
    };
  }
  const [refusal, servers, paused] = read;
  const evicting = evictingOf(servers.map(({ info }) => info));
  const troubles = [
    ...(refusal === undefined ? [] : [{ stops: true, message: refusal, refuses: true as const }]),
    ...evicting.map((message) => ({ stops: false, message })),
    ...paused.map((queue) => ({
      stops: true,
      message: `the queue "${queue}" is paused, and no entry of it is processed: "caretaker queues resume" resumes it`,
      queue,
    })),
  ];
  return { troubles, facts: servers.map(({ facts }) => facts) };
}

/** Also runs a script, as all work does. */
const readAll = (store: Store, queues: Queues) =>
  Promise.all([refusalOf(store), readFacts(store), queues.paused(), store.eval('return 1', 0)]);

/** Why Redis refuses writes, found out by writing. */
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

/** Whether Redis evicts keys, or would when it is full. */
function evictingOf(infos: readonly string[]): string[] {
  const message = infos.flatMap((info) => {
    const fact = (name: string) => factIn(info, name) ?? '';
    const policy = fact('maxmemory_policy');
    const evicted = Number(fact('evicted_keys'));
    if (policy === '' || policy === 'noeviction') return [];
    const advice = `maxmemory-policy is ${policy}: set it to noeviction`;
    return evicted > 0
      ? [`Redis was full and evicted ${evicted} keys, perhaps including Caretaker's records (${advice})`]
      : [`Redis may evict Caretaker's records when it is full (${advice})`];
  });
  return [...new Set(message)];
}

const CHECK_INTERVAL_MS = 5_000;

export interface RedisWatch {
  /** The problems at the last check. */
  troubles(): readonly RedisTrouble[];
  /** What each server reported then. */
  facts(): readonly RedisFacts[];
  /** For how long Redis has answered no check, by this process's own clock: a clock of Redis may jump. */
  silentMs(): number;
  close(): Promise<void>;
}

/** Checks every five seconds, and logs changes: each problem once, and once when it is solved. */
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
  let facts: readonly RedisFacts[] = [];
  let answeredAt = performance.now();
  const check = async () => {
    const before = new Set(troubles.map(kind));
    ({ troubles, facts } = await checkRedis(store, queues));
    answeredAt = performance.now();
    const now = new Set(troubles.map(kind));
    for (const one of troubles) if (!before.has(kind(one))) log[one.stops ? 'error' : 'warn'](one.message);
    if ([...before].some((one) => !now.has(one)) && !troubles.some(({ stops }) => stops))
      log.info('Redis works again; work continues');
  };
  const checking = (async () => {
    while (!closing.signal.aborted) {
      await check().catch((error: unknown) => log.debug({ err: error }, 'Redis could not be checked'));
      await clock.sleep(CHECK_INTERVAL_MS, closing.signal);
    }
  })();
  return {
    troubles: () => troubles,
    facts: () => facts,
    silentMs: () => performance.now() - answeredAt,
    async close() {
      closing.abort();
      await checking;
    },
  };
}

/** Identifies a problem, without the numbers that change from check to check. */
const kind = ({ message }: RedisTrouble): string => message.replace(/\d+/g, '#');
