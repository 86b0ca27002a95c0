/**
 * Daemons in separate processes, on machines whose clocks differ and jump, killed while they fire. Only this shows
 * node-cron and its run coordinator under wrong clocks; `scheduler.test.ts` has the decisions in one process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { openRecords } from '../../src/records/records.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';
import { NOON } from '../support/held-clock.ts';
import { startTestRedis } from '../support/redis.ts';

const MINUTE = 60_000;
const POLICIES = 8;
const MINUTES = 3;
/** A minute takes six seconds. */
const SPEED = 10;
/**
 * In Redis: the time that the daemons may not pass. It waits for slow daemons, so that no machine is too slow
 * for this test.
 */
const LIMIT = 'test:time-goes-no-further';

const moments = Array.from({ length: MINUTES }, (_, index) => NOON + index * MINUTE);

const policies = Array.from({ length: POLICIES }, (_, index) =>
  aPolicy({
    name: `sweep-${index}`,
    // Every second one fires on the minute, together with all the others.
    schedule: aSchedule({ cron: ['* * * * *'], jitterMs: index % 2 === 0 ? 0 : 30_000, overlap: 'allow' }),
  }),
);

test('with three daemons whose clocks differ by 30 s, the first at each minute is killed, and each of 24 scheduled runs starts once, on time', async () => {
  const redis = await startTestRedis();
  const store = new Redis(redis.options);
  const records = openRecords(store);
  const began = Number((await store.time())[0]) * 1_000;
  const daemons = new Set<ChildProcess>();
  const killedAt = new Set<number>();
  let over = false;

  const start = (wrongByMs: number): void => {
    const child = spawn(process.execPath, [script, facts(redis.socketPath, began, wrongByMs)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    daemons.add(child);
    child.stdout.on('data', (said: Buffer) => {
      const first = [...String(said).matchAll(/fires (\d+)/g)]
        .map(([, moment]) => Number(moment))
        .find((moment) => !killedAt.has(moment));
      if (over || first === undefined) return;
      killedAt.add(first);
      child.kill('SIGKILL');
    });
    child.once('exit', () => {
      daemons.delete(child);
      if (!over) start(wrongByMs);
    });
  };
  const everyPolicy = async (holds: (name: string) => Promise<boolean>) =>
    (await Promise.all(policies.map(({ name }) => holds(name)))).every(Boolean);

  try {
    await store.set(LIMIT, NOON - 1);
    for (const wrongByMs of [-30_000, 0, 30_000]) start(wrongByMs);
    await until(() => everyPolicy(async (name) => (await records.policies.state(name)).cursor !== undefined));
    for (const moment of moments) {
      await store.set(LIMIT, moment + MINUTE - 1);
      const isDone = async (name: string) =>
        (await records.ledger.between(name, moment, moment, 1)).length === 1;
      await until(() => everyPolicy(isDone));
    }

    expect([...killedAt].sort()).toEqual(moments);
    for (const { name } of policies) {
      const ledger = await records.ledger.between(name, 0, Number.MAX_SAFE_INTEGER, 1_000);
      expect(ledger.map(({ scheduledFor, is }) => [scheduledFor, is])).toEqual(
        moments.map((moment) => [moment, 'ran']),
      );
      const runs = await records.runs.list({ policy: name, limit: 1_000 });
      expect(runs.map(({ id }) => id).sort()).toEqual(ledger.map(({ run }) => run));
      expect(new Set(runs.map(({ trigger }) => trigger))).toEqual(new Set(['schedule']));
      // Not before its scheduled time, on any machine.
      expect(ledger.every(({ at, scheduledFor: moment }) => at >= moment)).toBe(true);
    }
  } finally {
    over = true;
    const ends = [...daemons].map((child) => once(child, 'exit'));
    for (const child of daemons) child.kill('SIGKILL');
    await Promise.all(ends);
    store.disconnect();
    await redis.stop();
  }
});

const script = fileURLToPath(new URL('./daemon.mjs', import.meta.url));

const facts = (socketPath: string, began: number, wrongByMs: number): string =>
  JSON.stringify({
    // Shortly before the first scheduled time, plus the time to read the policies.
    from: NOON - 10_000,
    began,
    limit: LIMIT,
    speed: SPEED,
    wrongByMs,
    policies,
    settings: {
      accounts: {},
      redis: { kind: 'url', url: socketPath },
      policiesDir: '/nowhere',
      dataDir: dirname(socketPath),
      daemon: { concurrency: 1 },
      dashboard: { host: '127.0.0.1', port: 0 },
      calendars: {},
      maintenance: [],
      notifications: {},
      retention: { runsMs: 90 * 86_400_000 },
      audit: { keptMs: 400 * 86_400_000 },
    },
  });

/** Resolves when the condition is true; checks ten times per second. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await systemClock.sleep(100);
}
