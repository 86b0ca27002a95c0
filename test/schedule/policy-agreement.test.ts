/** Daemons whose policy files differ: which of them fires which version, on a real Redis at a held time. */
import { hostname } from 'node:os';
import { beforeEach, expect, test } from 'vitest';
import type { Policy } from '../../src/policy/policy.ts';
import { openRecords } from '../../src/records/records.ts';
import { openPolicyAgreement } from '../../src/schedule/policy-agreement.ts';
import { type Agenda, tickOnce } from '../../src/schedule/scheduler.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';
import { heldClock } from '../support/held-clock.ts';
import { keptLog } from '../support/quiet.ts';
import { redisOfFile } from '../support/redis-of-file.ts';
import { firesInto } from './fires.ts';

const MINUTE = 60_000;
const { redis: store } = await redisOfFile();
beforeEach(() => store.flushall());

const clock = heldClock();
const own = `${hostname()} (pid ${process.pid})`;

const everyMinute = (name: string, version: string): Policy =>
  aPolicy({ name, hash: version, schedule: aSchedule({ cron: ['* * * * *'], overlap: 'allow' }) });

/** A daemon with the scheduler role that has read these policies; others see it under its name. */
function aDaemon(name: string, changedAt: number, policies: readonly Policy[]) {
  const records = openRecords(store);
  const log = keptLog();
  const agreement = openPolicyAgreement({
    watcher: { policies: () => policies, changedAt: () => changedAt },
    fires: true,
    owner: name,
    records,
    clock,
    log,
  });
  const fire = firesInto(records, clock);
  const parts = { policies: agreement.active, known: () => policies, fire, records, clock, log };
  const agenda: Agenda = new Map();
  return {
    log,
    tick: () => tickOnce(parts, agenda),
    async beat() {
      const seen = { startedAt: clock.now(), seenAt: clock.now(), policies: agreement.digest() };
      await records.presence.announce({ id: name, pid: 7, host: name, roles: ['scheduler'], ...seen });
      await agreement.look();
    },
  };
}

/** The versions of a policy that ran, by scheduled time. */
async function versionsOf(policy: string): Promise<string[]> {
  const runs = await openRecords(store).runs.list({ policy, limit: 100 });
  return runs.sort((a, b) => a.scheduledFor - b.scheduledFor).map(({ policyHash }) => policyHash);
}

test('two daemons with different policy files fire each scheduled time once, with the version that was changed last', async () => {
  const from = clock.now();
  const same = everyMinute('same', 'same');
  const old = aDaemon('a', 1_000, [everyMinute('shared', 'old'), same, everyMinute('only-old', 'old')]);
  const fresh = aDaemon('b', 2_000, [
    everyMinute('shared', 'fresh'),
    same,
    everyMinute('only-fresh', 'fresh'),
  ]);
  const both = [old, fresh];
  const minute = async (daemons: typeof both) => {
    for (let beats = 0; beats < 6; beats += 1) {
      await clock.advance(MINUTE / 6);
      for (const one of daemons) await one.beat();
    }
    await Promise.all(daemons.map(({ tick }) => tick()));
  };
  for (const one of [...both, ...both]) await one.beat();
  await Promise.all(both.map(({ tick }) => tick()));
  await minute(both);
  await minute(both);
  // The daemon with the active version is gone: the version of the other one becomes active.
  await minute([old]);

  expect(await versionsOf('shared')).toEqual(['fresh', 'fresh', 'old']);
  expect(await versionsOf('same')).toEqual(['same', 'same', 'same']);
  expect(await versionsOf('only-old')).toEqual(['old', 'old', 'old']);
  expect(await versionsOf('only-fresh')).toEqual(['fresh', 'fresh']);
  const times = [1, 2, 3].map((nth) => [from + nth * MINUTE, 'ran']);
  for (const name of ['shared', 'same', 'only-old']) {
    const ledger = await openRecords(store).ledger.between(name, from, clock.now(), 100);
    expect(ledger.map(({ scheduledFor, is }) => [scheduledFor, is])).toEqual(times);
  }
  const named = ({ log }: typeof old) => log.lines.filter((line) => line.includes('differs between daemons'));
  expect(named(old)).toEqual([
    `warn the policy only-fresh differs between daemons: the version of b (pid 7) is active, ${own} does not have it`,
    `warn the policy only-old differs between daemons: the version of ${own} is active, b (pid 7) does not have it`,
    `warn the policy shared differs between daemons: the version of b (pid 7) is active, ${own} has another version`,
  ]);
  expect(named(fresh)).toHaveLength(3);
  expect(old.log.lines.at(-1)).toBe('info all daemons have read the same policies again');
});
