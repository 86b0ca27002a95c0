/** The clock of Redis jumps under a process that uses it. */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { connectRecords } from '../../src/app/open-records.ts';
import { clockJumps, noteClockJump } from '../../src/records/reported.ts';
import { keptLog } from '../support/quiet.ts';
import { startTestRedis } from '../support/redis.ts';

const HOUR = 3_600_000;

test('a jump is logged, makes one notice for all processes, and is a warning for an hour', async () => {
  const redis = await startTestRedis();
  const log = keptLog();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const url = `redis://localhost?path=${encodeURIComponent(redis.socketPath)}`;
  const opened = await connectRecords(
    { redis: { kind: 'url', url }, dataDir: '/nowhere', audit: { keptMs: HOUR } },
    log,
  );
  onTestFinished(async () => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    await opened.close();
    await redis.stop();
  });
  const { records, clock } = opened;
  const { alerts } = records;
  const [seconds = 0, micros = 0] = (await opened.redis.store.time()).map(Number);
  let hear = () => {};
  const added = new Promise<void>((resolve) => {
    hear = resolve;
  });
  await records.notices.listen(() => hear());
  vi.spyOn(Redis.prototype, 'time').mockResolvedValue([seconds + 600, micros]);

  vi.advanceTimersByTime(10_000);
  await added;
  await noteClockJump(alerts, { at: clock.now(), byMs: 600_000 });

  expect(log.lines).toContainEqual(
    expect.stringMatching(/^warn the clock of Redis went forward by (10m|9m)/),
  );
  expect(await records.notices.open(10)).toMatchObject([{ notice: { event: 'clock-jumped' } }]);
  expect(await clockJumps(alerts, clock.now())).toEqual([
    expect.stringMatching(/^the clock of Redis went forward in the last hour/),
  ]);

  const back = clock.now() - 600_000;
  await noteClockJump(alerts, { at: back, byMs: -600_000 });
  expect(await records.notices.open(10)).toHaveLength(2);
  expect(await clockJumps(alerts, back)).toEqual([expect.stringMatching(/went back/)]);
  await clockJumps(alerts, back + HOUR);
  expect(await clockJumps(alerts, back + HOUR)).toEqual([]);
});
