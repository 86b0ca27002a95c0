import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { Policy, Schedule } from '../../src/policy/policy.ts';
import { openRecords } from '../../src/records/records.ts';
import type { Tick } from '../../src/schedule/cron-tick.ts';
import { startCronTick } from '../../src/schedule/cron-tick.ts';
import { type Agenda, type SchedulerDeps, startScheduler, tickOnce } from '../../src/schedule/scheduler.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';
import { heldClock, NOON } from '../support/held-clock.ts';
import { keptLog } from '../support/quiet.ts';
import { redisOfFile } from '../support/redis-of-file.ts';
import { firesInto } from './fires.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const { redis: store } = await redisOfFile();
beforeEach(() => store.flushall());

const everyMinute: Partial<Schedule> = { cron: ['* * * * *'] };
const hourly: Partial<Schedule> = { cron: ['0 * * * *'] };

const policyOf = (name: string, schedule: Partial<Schedule>): Policy =>
  aPolicy({ name, schedule: aSchedule(schedule), hash: JSON.stringify(schedule) });

/** A daemon with only what the scheduler needs, at noon. */
function aDaemon(policies: Policy[], clock = heldClock(NOON)) {
  const records = openRecords(store);
  const log = keptLog();
  const parts: SchedulerDeps = {
    policies: () => policies,
    fire: firesInto(records, clock),
    records,
    clock,
    log,
  };
  const agenda: Agenda = new Map();
  return {
    policies,
    clock,
    records,
    log,
    parts,
    tick: () => tickOnce(parts, agenda),
    /** Advances the clock this far, with a tick every five seconds. */
    async live(ms: number) {
      for (const end = clock.now() + ms; clock.now() < end; ) {
        await clock.advance(5 * SECOND);
        await tickOnce(parts, agenda);
      }
    },
  };
}

async function firings(policy: string): Promise<string[]> {
  const runs = await openRecords(store).runs.list({ policy, limit: 1_000 });
  return runs
    .sort((a, b) => a.scheduledFor - b.scheduledFor)
    .map((run) => `${new Date(run.scheduledFor).toISOString().slice(11, 16)} ${run.trigger}`);
}

test('a scheduled time that comes just after a change of its policy fires when the wait is over', async () => {
  const daemon = aDaemon([policyOf('delete', hourly), policyOf('sync', hourly)], heldClock(NOON - MINUTE));
  let changedAt = NOON - 10 * SECOND;
  daemon.parts.waitsUntil = ({ name }) => (name === 'delete' ? changedAt + MINUTE : 0);
  await daemon.live(MINUTE + 30 * SECOND);
  expect([await firings('delete'), await firings('sync')]).toEqual([[], ['12:00 schedule']]);

  // It changes again, so the first look at it does not count.
  changedAt = NOON + 20 * SECOND;
  await daemon.live(40 * SECOND);
  expect(await firings('delete')).toEqual([]);
  await daemon.live(20 * SECOND);
  expect(await firings('delete')).toEqual(['12:00 schedule']);
  expect(daemon.log.lines.join('\n')).toContain('a run of delete waits: it may do what cannot be undone');
});

test('after three hours of downtime, one run catches up what was missed within the catchup', async () => {
  const policy = policyOf('sweep', { ...hourly, catchupMs: 2 * HOUR });
  const before = aDaemon([policy]);
  await before.tick();

  const after = aDaemon([policy], heldClock(NOON + 3 * HOUR + 30 * MINUTE));
  await after.tick();

  expect(await firings('sweep')).toEqual(['15:00 catch-up']);
  expect(after.log.lines).toEqual([
    expect.stringContaining('warn did not fire: it was missed, and is older than its catchup'),
    expect.stringContaining('info did not fire: one run serves for all'),
  ]);
});

test('a paused policy does not fire, records that, and catches up nothing when it is resumed', async () => {
  const daemon = aDaemon([policyOf('sweep', { ...everyMinute, catchupMs: HOUR })]);
  await daemon.tick();
  await daemon.records.policies.pause('sweep', { at: NOON, by: 'anna', reason: 'the big sale' });
  await daemon.live(2 * MINUTE);
  await daemon.records.policies.resume('sweep', daemon.clock.now());

  await daemon.live(MINUTE);

  expect(await firings('sweep')).toEqual(['12:03 schedule']);
  expect(daemon.log.lines[0]).toMatch(/^info did not fire: the policy is paused .*by anna: the big sale/);
});

test('during a freeze nothing fires; it ends automatically, and nothing is caught up', async () => {
  const daemon = aDaemon([policyOf('sweep', { cron: ['* * * * *'], catchupMs: HOUR })]);
  await daemon.tick();
  const { freeze } = daemon.records;
  const until = NOON + 3 * MINUTE + 30 * SECOND;
  await freeze.begin({ at: daemon.clock.now(), by: 'anna', reason: 'the big sale', until });
  await daemon.live(2 * MINUTE);
  // No daemon checks until the freeze is over.
  await daemon.clock.advance(2 * MINUTE);

  await daemon.live(MINUTE);

  expect(await firings('sweep')).toEqual(['12:04 schedule', '12:05 schedule']);
  expect(daemon.log.lines[0]).toMatch(/^info did not fire: a freeze is active .*by anna: the big sale/);
});

test('a policy that cannot be fired is reported once and does not prevent others from firing, nor does one without a schedule', async () => {
  const { schedule: _, ...byHand } = policyOf('by-hand', {});
  const unreadable = policyOf('unreadable', { cron: ['61 * * * *'] });
  const refused = policyOf('refused', everyMinute);
  const daemon = aDaemon([byHand, unreadable, refused, policyOf('sweep', everyMinute)]);
  const fire = daemon.parts.fire;
  daemon.parts.fire = async (policy, firing) => {
    if (policy === refused) throw new Error('the account is not set up');
    return fire(policy, firing);
  };
  await daemon.tick();

  await daemon.live(MINUTE + 30 * SECOND);

  expect(await firings('sweep')).toEqual(['12:01 schedule']);
  expect(daemon.log.lines).toEqual([
    expect.stringMatching(/^error the policy unreadable could not be fired: .*61/),
    expect.stringMatching(/^error the policy refused could not be fired: the account is not set up/),
  ]);
  expect((await daemon.records.policies.state('by-hand')).cursor).toBeUndefined();
});

test('a scheduled run that could not be created is created at the next tick', async () => {
  const daemon = aDaemon([policyOf('sweep', everyMinute)]);
  const fire = daemon.parts.fire;
  let attempts = 0;
  daemon.parts.fire = async (policy, firing) => {
    attempts += 1;
    if (attempts === 1) throw new Error('Redis hung up');
    return fire(policy, firing);
  };
  await daemon.tick();

  await daemon.live(MINUTE + 5 * SECOND);

  expect(await firings('sweep')).toEqual(['12:01 schedule']);
});

test('a daemon that dies between creating a run and recording it causes no second run', async () => {
  const policy = policyOf('sweep', everyMinute);
  const dying = aDaemon([policy]);
  await dying.tick();
  await dying.clock.advance(MINUTE);
  const cut = new Error('killed');
  const { ledger } = dying.records;
  await expect(
    tickOnce(
      {
        ...dying.parts,
        log: keptLog(),
        records: {
          ...dying.records,
          ledger: Object.assign(Object.create(ledger), { record: () => Promise.reject(cut) }),
        },
      },
      new Map(),
    ),
  ).resolves.toBeUndefined();
  expect(await firings('sweep')).toEqual(['12:01 schedule']);

  const next = aDaemon([policy], dying.clock);
  await next.live(MINUTE);

  expect(await firings('sweep')).toEqual(['12:01 schedule', '12:02 schedule']);
});

test('two daemons that process every tick at the same time fire each of 100 scheduled times once', async () => {
  const policy = policyOf('sweep', everyMinute);
  const clock = heldClock(NOON);
  const [one, two] = [aDaemon([policy], clock), aDaemon([policy], clock)];
  await Promise.all([one.tick(), two.tick()]);

  for (let minute = 0; minute < 100; minute += 1) {
    await clock.advance(MINUTE);
    await Promise.all([one.tick(), two.tick()]);
  }

  expect(await openRecords(store).runs.list({ policy: 'sweep', limit: 1_000 })).toHaveLength(100);
});

test('an edited schedule applies from its edit on: no earlier times are caught up', async () => {
  const daily = policyOf('sweep', { cron: ['0 2 * * *'], catchupMs: 24 * HOUR });
  const daemon = aDaemon([daily]);
  await daemon.tick();
  await daemon.clock.advance(30 * MINUTE);
  await daemon.tick();
  daemon.policies[0] = policyOf('sweep', { cron: ['15 * * * *'], catchupMs: 24 * HOUR });

  await daemon.live(HOUR);

  expect(await firings('sweep')).toEqual(['13:15 schedule']);
});

test('a removed policy never fires again', async () => {
  const daemon = aDaemon([policyOf('sweep', everyMinute), policyOf('other', everyMinute)]);
  await daemon.tick();
  daemon.policies.shift();

  await daemon.live(2 * MINUTE);

  expect(await firings('sweep')).toEqual([]);
  expect(await firings('other')).toEqual(['12:01 schedule', '12:02 schedule']);
});

test('policies that are removed during a tick no longer fire in it', async () => {
  const daemon = aDaemon(Array.from({ length: 100 }, (_, i) => policyOf(`sweep-${i}`, everyMinute)));
  await daemon.tick();
  await daemon.clock.advance(MINUTE);
  const fired: string[] = [];
  daemon.parts.fire = async ({ name }) => {
    fired.push(name);
    daemon.policies.length = 1;
    await store.ping();
  };

  await daemon.tick();

  // Those that were being fired at that time.
  expect(fired.length).toBeLessThanOrEqual(20);
});

test('a tick at which none of 1,000 policies is due sends no request to Redis', async () => {
  const policies = Array.from({ length: 1_000 }, (_, i) => policyOf(`policy-${i}`, hourly));
  const daemon = aDaemon(policies);
  await daemon.tick();
  const asked: string[][] = [];
  const monitor = await store.monitor();
  monitor.on('monitor', (_time: string, command: string[]) => asked.push(command));

  for (let i = 0; i < 10; i += 1) await daemon.tick();

  await store.echo('over');
  expect(asked.map(([command]) => command)).toEqual(['echo']);
  monitor.disconnect();
});

test('each call of node-cron is processed by one of two daemons, and by the other when one has stopped', async () => {
  const records = openRecords(store);
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
    now: NOON,
  });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const calls: string[] = [];
  let asked = 0;
  const start = (name: string): Tick =>
    startCronTick({
      everySeconds: 1,
      clock: systemClock,
      locks: records.locks,
      log: keptLog(),
      onBeat() {
        asked += 1;
      },
      async answer() {
        calls.push(`${name} ${Math.floor(Date.now() / SECOND)}`);
      },
    });
  /** A second passes, and each daemon gets the answer of Redis who processes the call. */
  const second = async (daemons: number) => {
    const before = { calls: calls.length, asked };
    await vi.advanceTimersByTimeAsync(SECOND);
    while (calls.length === before.calls || asked < before.asked + daemons) await new Promise(setImmediate);
  };
  const [one, two] = [start('one'), start('two')];
  for (let seconds = 0; seconds < 4; seconds += 1) await second(2);

  await one.stop();
  const answered = calls.length;
  for (let seconds = 0; seconds < 2; seconds += 1) await second(1);
  await two.stop();

  const seconds = calls.map((call) => call.split(' ')[1]);
  expect(new Set(seconds).size).toBe(calls.length);
  expect(calls.slice(answered).every((call) => call.startsWith('two'))).toBe(true);
});

test('a scheduler fires automatically, and no longer after it is stopped', async () => {
  const daemon = aDaemon([policyOf('sweep', everyMinute)]);
  const ticks: (() => Promise<void>)[] = [];
  const scheduler = startScheduler({
    ...daemon.parts,
    tick(answer) {
      ticks.push(answer);
      return {
        async stop() {
          ticks.length = 0;
        },
      };
    },
  });
  const callAll = () => Promise.all(ticks.map((tick) => tick()));
  await callAll();
  await daemon.clock.advance(MINUTE);
  await callAll();

  await scheduler.stop();
  await daemon.clock.advance(MINUTE);
  await callAll();

  expect(await firings('sweep')).toEqual(['12:01 schedule']);
});

test('after the clock of Redis went forward and back, what was recorded ahead of now is taken back, and policies fire', async () => {
  const held = heldClock(NOON);
  let ahead = 0;
  const clock = { ...held, now: () => held.now() + ahead };
  const daemon = aDaemon([policyOf('sweep', everyMinute)], clock);
  let answer = async () => {};
  const tick = (given: typeof answer): Tick => {
    answer = given;
    return { stop: async () => {} };
  };
  const scheduler = startScheduler({ ...daemon.parts, tick });
  const live = async (ms: number) => {
    for (const end = held.now() + ms; held.now() < end; ) {
      await held.advance(5 * SECOND);
      await answer();
    }
  };
  await answer();
  await live(MINUTE);
  ahead = 10 * MINUTE;
  await live(25 * SECOND);
  const recorded = await daemon.records.ledger.between('sweep', 0, NOON + HOUR, 100);
  ahead = 0;

  await live(12 * MINUTE);
  await scheduler.stop();

  expect(recorded.filter(({ is }) => is === 'missed').length).toBeGreaterThan(5);
  const minutes = Array.from(
    { length: 13 },
    (_, index) => `12:${String(index + 1).padStart(2, '0')} schedule`,
  );
  expect(await firings('sweep')).toEqual(minutes);
  expect(daemon.log.lines).toContainEqual(
    expect.stringContaining('the clock went back: what was recorded of sweep ahead of now is taken back'),
  );
});
