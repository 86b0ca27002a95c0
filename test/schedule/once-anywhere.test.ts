/** Daemons in processes of their own, on machines whose clocks differ and jump, killed while they fire. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { openRecords } from '../../src/records/records.ts';
import { aPolicy } from '../support/caretaker.ts';
import { startTestRedis } from '../support/redis.ts';

const MINUTE = 60_000;
const POLICIES = 25;
const MINUTES = 4;
/** A minute takes six seconds: a machine that stalls for a while is late, and misses nothing. */
const SPEED = 10;

const policies = Array.from({ length: POLICIES }, (_, index) =>
  aPolicy({
    name: `sweep-${index}`,
    schedule: {
      cron: ['* * * * *'],
      timezone: 'UTC',
      // Every other one fires on the minute, with all the others.
      jitterMs: index % 2 === 0 ? 0 : 30_000,
      overlap: 'allow',
      catchupMs: 0,
      blackout: [],
    },
  }),
);

test('of three daemons whose machines disagree by 30 s, each is killed as it fires, and each of 100 firings happens once, on time', async () => {
  const redis = await startTestRedis();
  const store = new Redis(redis.options);
  const records = openRecords(store);
  const redisNow = async () => Number((await store.time())[0]) * 1_000;
  const from = await redisNow();
  let moments: number[] = [];
  const daemons = new Set<ChildProcess>();
  const killedIn = new Set<number>();
  let over = false;

  const start = async (wrongByMs: number): Promise<void> => {
    const child = spawn(process.execPath, [script, facts(redis.socketPath, from, wrongByMs)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    daemons.add(child);
    child.stdout.on('data', (said: Buffer) => {
      // Once in each minute of the test, whoever begins to fire is killed over it.
      if (!String(said).includes('fires') || moments.length === 0) return;
      const minute = Math.floor(((Date.now() - from) * SPEED) / MINUTE);
      if (over || killedIn.has(minute)) return;
      killedIn.add(minute);
      child.kill('SIGKILL');
    });
    child.once('exit', () => {
      daemons.delete(child);
      if (!over) void start(wrongByMs);
    });
  };
  const ledgerOf = (name: string) =>
    records.ledger.between(name, moments[0] ?? 0, moments.at(-1) ?? 0, 1_000);

  try {
    await Promise.all([-30_000, 0, 30_000].map(start));
    await Promise.all([...daemons].map((child) => once(child.stdout as Readable, 'data')));
    moments = momentsAfter(from + ((await redisNow()) - from + 1_000) * SPEED);
    await untilEvent(records, async () =>
      (await Promise.all(policies.map(({ name }) => ledgerOf(name)))).every(
        (ledger) => ledger.length >= MINUTES,
      ),
    );
    expect(killedIn.size).toBeGreaterThanOrEqual(3);
    for (const { name } of policies) {
      const ledger = await ledgerOf(name);
      expect(ledger.map(({ moment, is }) => [moment, is])).toEqual(moments.map((moment) => [moment, 'ran']));
      const runs = (await records.runs.list({ policy: name, limit: 1_000 })).filter(({ scheduledFor }) =>
        moments.includes(scheduledFor),
      );
      expect(runs.map(({ id }) => id).sort()).toEqual(ledger.map(({ run }) => run));
      // Not before its moment, on whatever machine.
      expect(ledger.every(({ at, moment }) => at >= moment)).toBe(true);
    }
  } finally {
    over = true;
    const ends = [...daemons].map((child) => once(child, 'exit'));
    for (const child of daemons) child.kill('SIGKILL');
    await Promise.all(ends);
    store.disconnect();
    await redis.stop();
  }
}, 120_000);

const script = fileURLToPath(new URL('./daemon.mjs', import.meta.url));

const momentsAfter = (from: number): number[] => {
  const first = Math.floor(from / MINUTE) * MINUTE + MINUTE;
  return Array.from({ length: MINUTES }, (_, index) => first + index * MINUTE);
};

const facts = (socketPath: string, from: number, wrongByMs: number): string =>
  JSON.stringify({
    from,
    speed: SPEED,
    wrongByMs,
    policies,
    settings: {
      accounts: {},
      redis: { kind: 'url', url: socketPath },
      policiesDir: '/nowhere',
      dataDir: '/nowhere',
      daemon: { concurrency: 1 },
      dashboard: { host: '127.0.0.1', port: 0 },
      calendars: {},
      notifications: {},
      retention: { runsMs: 90 * 86_400_000 },
    },
  });

/** Looks each time a run is made, until what is looked for is there. */
async function untilEvent(
  records: ReturnType<typeof openRecords>,
  holds: () => Promise<boolean>,
): Promise<void> {
  let hear: () => void = () => undefined;
  const stop = await records.listen(() => hear());
  try {
    for (;;) {
      const heard = new Promise<void>((resolve) => {
        hear = resolve;
      });
      if (await holds()) return;
      await heard;
    }
  } finally {
    await stop();
  }
}
