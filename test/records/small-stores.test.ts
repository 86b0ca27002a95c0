/** Leases, presence, accounts, policies and events: the records other than runs. */
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { CaretakerEvent } from '../../src/records/events.ts';
import { openRecords } from '../../src/records/records.ts';
import { redisOfFile } from '../support/redis-of-file.ts';

const { redis, server } = await redisOfFile();
// Some tests stop the server.
redis.on('error', () => undefined);
const records = openRecords(redis);
beforeEach(() => redis.flushall());

describe('a lease', () => {
  test('has one owner, and only the owner can renew or release it', async () => {
    const { locks } = records;
    expect(await locks.acquire('supervisor', 'a', 6_000)).toBe(true);
    expect(await locks.acquire('supervisor', 'b', 6_000)).toBe(false);
    expect(await locks.acquire('supervisor', 'a', 60_000)).toBe(true);
    expect(await redis.pttl('{caretaker}:lock:supervisor')).toBeGreaterThan(6_000);

    await locks.release('supervisor', 'b');
    expect(await locks.acquire('supervisor', 'b', 6_000)).toBe(false);
    expect(await locks.holder('supervisor')).toBe('a');
    await locks.release('supervisor', 'a');
    expect(await locks.holder('supervisor')).toBeUndefined();
    expect(await locks.acquire('supervisor', 'b', 6_000)).toBe(true);
    // One with another name is independent.
    expect(await locks.acquire('supervisor:other', 'a', 6_000)).toBe(true);
  });

  test.each(['supervisor', 'other'])(
    'of a dead owner that expires when a clock was ahead is cut: %s',
    async (name) => {
      const { locks, accounts } = records;
      const acquire = (owner: string) =>
        name === 'other'
          ? locks.acquire(name, owner, 6_000)
          : accounts.supervise({ account: 'agency', address: 'here' }, { name, owner, ttlMs: 6_000 });
      await acquire('dead');
      await redis.pexpire(`{caretaker}:lock:${name}`, 606_000);

      expect(await acquire('b')).toBe(false);

      expect(await redis.pttl(`{caretaker}:lock:${name}`)).toBeLessThanOrEqual(6_000);
    },
  );

  test('expires when its owner dies', async () => {
    await records.locks.acquire('supervisor', 'a', 20);
    await vi.waitFor(async () => expect(await records.locks.acquire('supervisor', 'b', 20)).toBe(true), {
      interval: 5,
    });
  });
});

describe('a process', () => {
  const presence = (id: string, seenAt: number) => ({
    id,
    pid: 1,
    host: 'h',
    roles: ['worker'],
    startedAt: 0,
    seenAt,
  });

  test('is shown in its latest state until it leaves', async () => {
    await records.presence.announce(presence('a', 1_000));
    await records.presence.announce(presence('a', 2_000));
    expect(await records.presence.running(2_000)).toEqual([presence('a', 2_000)]);
    await records.presence.withdraw('a');
    expect(await records.presence.running(2_000)).toEqual([]);
  });

  test('that has shown no sign of life for fifteen seconds is removed', async () => {
    await records.presence.announce(presence('dead', 1_000));
    await records.presence.announce(presence('alive', 9_000));
    expect(await records.presence.running(16_000)).toHaveLength(2);
    expect(await records.presence.running(16_001)).toEqual([presence('alive', 9_000)]);
    expect(await redis.hkeys('{caretaker}:presence')).toEqual(['alive']);
  });

  test('that was killed before the clock went back counts for fifteen seconds more, and not until the former time', async () => {
    await records.presence.announce(presence('dead', 600_000));
    expect(await records.presence.ids(1_000)).toEqual(['dead']);
    expect(await records.presence.ids(16_000)).toEqual(['dead']);
    expect(await records.presence.ids(16_001)).toEqual([]);

    await records.presence.announce(presence('dead', 600_000));
    expect(await records.presence.running(20_000)).toEqual([presence('dead', 20_000)]);
    expect(await records.presence.running(35_001)).toEqual([]);
  });
});

describe('the depth of the queues', () => {
  const MINUTE = 60_000;
  const at = 100 * MINUTE;
  const depthOf = (actions: number) => async () => ({ actions });

  test('is noted once a minute, whoever comes first', async () => {
    const { depths } = records;
    await depths.note(at, depthOf(3));
    await depths.note(at + 59_000, () => Promise.reject(new Error('nobody asks a second time')));
    await depths.note(at + MINUTE, depthOf(5));

    const hour = await depths.lastHour(at + MINUTE);
    expect(hour).toHaveLength(60);
    expect(hour.slice(-3)).toEqual([
      { at: at - MINUTE },
      { at, depth: { actions: 3 } },
      { at: at + MINUTE, depth: { actions: 5 } },
    ]);
  });

  test('is kept for an hour, and for two without a daemon', async () => {
    const { depths } = records;
    for (let minute = 0; minute < 70; minute += 1) await depths.note(at + minute * MINUTE, depthOf(minute));

    expect(await redis.hlen('{caretaker}:presence:queue-depth')).toBe(60);
    const hour = await depths.lastHour(at + 69 * MINUTE);
    expect(hour.map(({ depth }) => depth?.['actions'])).toEqual(Array.from({ length: 60 }, (_, n) => n + 10));
    expect(await redis.pttl('{caretaker}:presence:queue-depth')).toBeGreaterThan(119 * MINUTE);
    expect(await redis.pttl('{caretaker}:presence:queue-depth')).toBeLessThanOrEqual(120 * MINUTE);
  });
});

describe('an account', () => {
  test('that refuses access is stored with the time of its first refusal, until it accepts requests again', async () => {
    const { accounts } = records;
    expect(await accounts.blocked('agency')).toBeUndefined();
    await accounts.block('agency', { since: 1, why: 'HTTP 401' });
    await accounts.block('agency', { since: 2, why: 'HTTP 403' });
    expect(await accounts.blocked('agency')).toEqual({ since: 1, why: 'HTTP 401' });
    expect(await accounts.blocked('other')).toBeUndefined();
    await accounts.unblock('agency', 3);
    expect(await accounts.blocked('agency')).toBeUndefined();
  });

  test('is stored with the time at which it was last supervised', async () => {
    expect(await records.accounts.supervisedAt()).toEqual(new Map());
    await records.accounts.noteSupervised('agency', 1_000);
    await records.accounts.noteSupervised('agency', 2_000);
    expect(await records.accounts.supervisedAt()).toEqual(new Map([['agency', 2_000]]));
  });

  test('learns the usual duration of its work: the newest value counts a fifth', async () => {
    const { accounts } = records;
    expect(await accounts.usualMs('agency', 'sync')).toBeUndefined();
    await accounts.learnDuration('agency', 'sync', 60_000);
    expect(await accounts.usualMs('agency', 'sync')).toBe(60_000);
    await accounts.learnDuration('agency', 'sync', 10_000);
    expect(await accounts.usualMs('agency', 'sync')).toBe(50_000);
    await accounts.learnDuration('agency', 'sync', 20_000, 2);
    expect(await accounts.usualMs('agency', 'sync')).toBe(39_200);
    expect(await accounts.usualMs('agency', 'task')).toBeUndefined();
  });
});

describe('a policy', () => {
  test('stays paused until it is resumed, which resets its failures', async () => {
    const { policies } = records;
    expect(await policies.state('nightly')).toEqual({ failures: 0 });
    await policies.countFailure('nightly', true);
    await policies.pause('nightly', { at: 1_000, by: 'ops', reason: 'moving house' });
    expect(await policies.state('nightly')).toEqual({
      failures: 1,
      pause: { at: 1_000, by: 'ops', reason: 'moving house' },
    });
    expect(await policies.resume('nightly', 2_000)).toBe(true);
    expect(await policies.state('nightly')).toEqual({
      failures: 0,
      pauses: [{ at: 1_000, by: 'ops', reason: 'moving house', until: 2_000 }],
    });
    await policies.countFailure('nightly', true);
    expect(await policies.resume('nightly', 3_000)).toBe(false);
    expect(await policies.state('nightly')).toEqual({
      failures: 0,
      pauses: [{ at: 1_000, by: 'ops', reason: 'moving house', until: 2_000 }],
    });
  });

  test('counts how many runs in a row have failed', async () => {
    const { policies } = records;
    expect(await policies.countFailure('nightly', true)).toBe(1);
    expect(await policies.countFailure('nightly', true)).toBe(2);
    expect(await policies.countFailure('nightly', false)).toBe(0);
    expect(await policies.countFailure('nightly', true)).toBe(1);
  });
});

describe('a listener', () => {
  const soon = (policy: string, at: number): CaretakerEvent => ({ type: 'policy.changed', policy, at });

  test('receives the events of every process on the same Redis, until it stops', async () => {
    const heard: CaretakerEvent[] = [];
    const stop = await records.listen((event) => heard.push(event));
    await records.policies.pause('a', { at: 1, by: 'ops' });
    await vi.waitFor(() => expect(heard).toEqual([soon('a', 1)]), { interval: 5 });

    await stop();
    let hear = (_: CaretakerEvent) => {};
    const later = new Promise<CaretakerEvent>((resolve) => {
      hear = resolve;
    });
    // Otherwise the next test listens on this connection, which a restart of Redis ends for a moment.
    const stopLater = await records.listen((event) => hear(event));
    await records.policies.pause('a', { at: 2, by: 'ops' });
    expect(await later).toEqual(soon('a', 2));
    await stopLater();
    expect(heard).toHaveLength(1);
  });

  test('continues when Redis is available again', async () => {
    const heard: CaretakerEvent[] = [];
    const stop = await records.listen((event) => heard.push(event));
    await server.restart();
    await vi.waitFor(
      async () => {
        await records.policies.pause('b', { at: 3, by: 'ops' });
        expect(heard).toContainEqual(soon('b', 3));
      },
      // A connection that is subscribed and hears nothing is noticed by its ping, every ten seconds.
      { timeout: 60_000, interval: 20 },
    );
    await stop();
  });

  test('stops at once even while Redis is unavailable', async () => {
    const stop = await records.listen(() => undefined);
    await server.kill();
    await stop();
    await server.restart();
  });
});

describe('a freeze', () => {
  const NOW = 1_795_262_400_000;

  test('is active until its end, for every policy, and is remembered afterwards', async () => {
    const freeze = { at: NOW, by: 'anna', reason: 'the big sale', until: NOW + 1_000 };
    await records.freeze.begin(freeze);

    expect(await records.freeze.at(NOW + 999)).toEqual(freeze);
    expect(await records.freeze.at(NOW + 1_000)).toBeUndefined();
    expect((await records.policies.state('any')).freezes).toEqual({ pause: freeze });

    await records.freeze.end(NOW + 10);
    expect(await records.freeze.at(NOW + 11)).toBeUndefined();
    const [over] = (await records.policies.state('any')).freezes?.pauses ?? [];
    expect(over).toEqual({ ...freeze, until: NOW + 10 });
  });

  test('that was over when it was stored is remembered, and ends no active freeze', async () => {
    const past = { at: NOW - 1_000, by: 'caretaker', reason: 'Redis was restored', until: NOW };
    const freeze = { at: NOW, by: 'anna', until: NOW + 1_000 };
    await records.freeze.begin(freeze);
    await records.freeze.note(past);

    expect((await records.policies.state('any')).freezes).toEqual({ pause: freeze, pauses: [past] });
  });

  test('is published to listeners', async () => {
    const heard: CaretakerEvent[] = [];
    const stop = await records.listen((event) => heard.push(event));
    await records.freeze.begin({ at: NOW, by: 'anna', until: NOW + 1_000 });
    await vi.waitFor(() => expect(heard).toEqual([{ type: 'freeze.changed', at: NOW }]), 60_000);
    await stop();
  });
});

describe('an effect', () => {
  const note = { operation: 'createSiteNote', id: 'note-1' };
  const [first, second] = [
    { run: 'notes.1', target: 'site-1' },
    { run: 'notes.2', target: 'site-1' },
  ];
  const NOON = Date.parse('2026-11-21T12:00:00Z');
  const DAY = 86_400_000;

  test('belongs to the target that claimed it first, and to no other', async () => {
    const { effects } = records;
    expect(await effects.belongsToOther('agency', note, second, NOON, NOON)).toBe(false);
    expect(await effects.claim('agency', note, first, NOON, NOON)).toBe(true);
    expect(await effects.claim('agency', note, first, NOON, NOON)).toBe(true);
    expect(await effects.claim('agency', note, second, NOON, NOON)).toBe(false);
    expect(await effects.belongsToOther('agency', note, second, NOON, NOON)).toBe(true);
    expect(await effects.belongsToOther('agency', note, first, NOON, NOON)).toBe(false);
  });

  test('keeps its owner on the following days, and only in its own account', async () => {
    const { effects } = records;
    await effects.claim('agency', note, first, NOON, NOON);
    expect(await effects.claim('agency', note, second, NOON + 2 * DAY, NOON + DAY)).toBe(false);
    expect(await effects.claim('other', note, second, NOON, NOON)).toBe(true);
    const other = { ...note, operation: 'createTag' };
    expect(await effects.claim('agency', other, second, NOON, NOON)).toBe(true);
  });

  test('keeps its owner when the clock goes back over midnight', async () => {
    const { effects } = records;
    const midnight = NOON + DAY / 2;
    await effects.claim('agency', note, first, midnight + 300_000, midnight + 300_000);

    const [now, since] = [midnight - 300_000, midnight - 360_000];
    expect(await effects.belongsToOther('agency', note, second, now, since)).toBe(true);
    expect(await effects.claim('agency', note, second, now, since)).toBe(false);
  });

  test('is removed after some days', async () => {
    await records.effects.claim('agency', note, first, NOON, NOON);
    const [key = ''] = await redis.keys('{caretaker}:effects:*');
    expect(await redis.pttl(key)).toBeGreaterThan(8 * DAY);
    expect(await redis.pttl(key)).toBeLessThan(11 * DAY);
  });
});
