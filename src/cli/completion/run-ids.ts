import type { Log } from '../../log.ts';
import { isFinal } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import type { Settings } from '../../settings/settings.ts';
import { hasRecords } from '../context.ts';

/** A person waits for completion. Later answers are not used. */
const TIME_LIMIT_MS = 1_000;
const MAX_RUNS = 50;

/** The runs that a command can work on: nothing is offered that it would refuse. */
const usable: Readonly<Record<string, (run: Run) => boolean>> = {
  cancel: ({ status }) => !isFinal(status),
  continue: ({ status }) => !isFinal(status),
  release: ({ held }) => held !== undefined,
  retry: ({ status, counts }) => isFinal(status) && counts.failed > 0,
};

/** The ids of the newest runs, and `last`; none when Redis does not answer within a second. */
export async function runIds(
  settings: Settings,
  known: { command: string; typed: string },
): Promise<string[]> {
  if (!hasRecords(settings)) return [];
  const late = new Promise<string[]>((resolve) => {
    setTimeout(() => resolve([]), TIME_LIMIT_MS).unref();
  });
  return Promise.race([read(settings, known), late]);
}

/** Reads without migrating the records: that is for commands that a person starts. */
async function read(
  settings: Settings,
  { command, typed }: { command: string; typed: string },
): Promise<string[]> {
  const [{ connectRedis }, { RunStore }] = await Promise.all([
    import('../../redis/connect.ts'),
    import('../../records/run-store.ts'),
  ]);
  const redis = await connectRedis(settings.redis, settings.dataDir, silent);
  try {
    const runs = new RunStore(redis.store);
    const isUsable = usable[command] ?? (() => true);
    const newest = (await runs.list({ limit: MAX_RUNS })).filter(isUsable).map(({ id }) => id);
    const last = newest.length > 0 ? ['last'] : [];
    if (typed === '' || newest.some((id) => id.startsWith(typed))) return [...last, ...newest];
    return [...last, ...(await runs.startingWith(typed, MAX_RUNS))];
  } finally {
    await redis.close();
  }
}

const nothing = (): void => undefined;
const silent: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silent };
