import { expect, test } from 'vitest';
import { redisClock } from '../../src/redis/clock.ts';
import { heldClock } from '../support/held-clock.ts';

const NOON = Date.parse('2026-11-21T12:00:00Z');

/** A Redis with a time set by the test, whose answers take a given time by the machine's clock. */
function aRedis(now: () => number, takes: () => Promise<void> = async () => undefined) {
  return {
    async time(): Promise<number[]> {
      await takes();
      return [Math.floor(now() / 1000), (now() % 1000) * 1000];
    },
  } as unknown as Parameters<typeof redisClock>[0];
}

test('machines whose clocks are half a minute apart agree on the time', async () => {
  const clocks = await Promise.all(
    [-30_000, 0, 30_000].map((wrongBy) =>
      redisClock(
        aRedis(() => NOON),
        heldClock(NOON + wrongBy),
      ),
    ),
  );
  expect(clocks.map((clock) => clock.now())).toEqual([NOON, NOON, NOON]);
});

test('the clock of a machine that slept or drifted is corrected', async () => {
  const machine = heldClock(NOON);
  let redisNow = NOON;
  const clock = await redisClock(
    aRedis(() => redisNow),
    machine,
  );
  redisNow += 3_600_000;
  await machine.advance(1_000);
  expect(clock.now()).toBe(NOON + 1_000);

  await clock.resync();
  expect(clock.now()).toBe(redisNow);
});

test('a slow answer does not change the clock', async () => {
  const machine = heldClock(NOON);
  let slow = 0;
  const clock = await redisClock(
    aRedis(
      () => machine.now(),
      () => machine.advance(slow),
    ),
    machine,
  );
  slow = 20_000;
  await clock.resync();
  expect(clock.now()).toBe(machine.now());
});

test("a jump of Redis's time is reported with its amount, and neither a small change nor a sleep of this machine is one", async () => {
  const machine = heldClock(NOON);
  let ahead = 0;
  let slept = 0;
  const jumps: number[] = [];
  const clock = await redisClock(
    aRedis(() => machine.now() + ahead + slept),
    machine,
    { onJump: (byMs) => jumps.push(byMs), uptimeMs: () => machine.now() - NOON + slept },
  );
  for (const change of [
    () => (ahead = 20_000),
    () => (slept = 3_600_000),
    () => (ahead = 620_000),
    () => (ahead = 0),
  ]) {
    change();
    await machine.advance(10_000);
    await clock.resync();
  }

  expect(jumps).toEqual([600_000, -620_000]);
  expect(clock.now()).toBe(machine.now() + slept);
});
