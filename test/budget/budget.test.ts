import { once } from 'node:events';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Budget, BudgetSpentError, openBudget } from '../../src/budget/budget.ts';
import type { RequestClass, WindowReport } from '../../src/budget/ticket.ts';
import { type HeldClock, heldClock } from '../support/held-clock.ts';
import { startTestRedis } from '../support/redis.ts';
import { redisOfFile } from '../support/redis-of-file.ts';

const { redis } = await redisOfFile();

let accounts = 0;
/** A budget of a separate account, and another process's view of it. */
function open({ perMinute = 20, reserve = 0 } = {}) {
  accounts += 1;
  const account = `account-${accounts}`;
  const clock = heldClock();
  const budget = openBudget(redis, clock, account, { requestsPerMinute: perMinute, reserve });
  const changed = (requestsPerMinute: number) =>
    openBudget(redis, clock, account, { requestsPerMinute, reserve });
  return { account, clock, budget, other: changed(perMinute), changed };
}

const answered = (remaining: number, resetMs: number, limit = 20) =>
  ({ kind: 'answered', limit, remaining, resetMs }) as const;

/** Becomes the scout and answers it: the window is known, with `remaining` requests left. */
async function begin(budget: Budget, remaining = 19, resetMs = 60_000, limit = 20) {
  const ticket = await budget.take('person');
  await budget.learn(ticket, answered(remaining, resetMs, limit));
  return ticket;
}

/** The same account with a window of a hundred requests, of which the scout is one. */
async function openHundred() {
  const opened = open({ perMinute: 100 });
  await begin(opened.budget, 99, 60_000, 100);
  return opened;
}

/** Takes everything that is granted immediately; returns how much that was. */
async function takeAll(budget: Budget, requestClass: RequestClass): Promise<number> {
  for (let taken = 0; ; taken += 1) {
    try {
      await budget.takeNow(requestClass);
    } catch (error) {
      if (error instanceof BudgetSpentError) return taken;
      throw error;
    }
  }
}

const asleep = (clock: HeldClock, sleepers = 1) =>
  vi.waitFor(() => expect(clock.sleepers()).toBe(sleepers), { interval: 1 });

/** A Redis of the test that is stopped in it. */
async function openOwn() {
  // Otherwise the kill may lose the last report, and with a held clock there would be no retry.
  const own = await startTestRedis({ appendfsync: 'always' });
  const connection = new Redis({ ...own.options, maxRetriesPerRequest: null, retryStrategy: () => 10 });
  connection.on('error', () => undefined);
  onTestFinished(async () => {
    connection.disconnect();
    await own.stop();
  });
  return { own, connection };
}

/** Advances time until `waiting` resolves. Requests that are not granted sleep again in between. */
async function advanceUntil<T>(clock: HeldClock, waiting: Promise<T>, stepMs = 40): Promise<T> {
  let over = false;
  const end = () => {
    over = true;
  };
  void waiting.then(end, end);
  while (!over) {
    await vi.waitFor(() => expect(over || clock.sleepers() > 0).toBe(true), { interval: 1 });
    if (!over) await clock.advance(stepMs);
  }
  return waiting;
}

describe('a new window', () => {
  test('one request is sent first, and all others wait for its result', async () => {
    const { budget, other, clock } = open();
    const scout = await budget.take('action');
    const waiting = other.take('person');
    await asleep(clock);

    await clock.advance(5_000);
    await asleep(clock);
    expect((await budget.state()).remaining).toBe(19);
    await budget.learn(scout, answered(7, 30_000));
    await advanceUntil(clock, waiting);

    expect(await budget.state()).toMatchObject({ limit: 20, remaining: 6 });
  });

  test.each<[string, WindowReport | undefined]>([
    ['has no answer', undefined],
    ['fails without rate headers', { kind: 'failed' }],
  ])(
    'a first request that %s opens no window: the next one takes its place immediately',
    async (_, report) => {
      const { budget, other, clock } = open();
      const scout = await budget.take('action');
      const second = other.take('action');
      await asleep(clock);

      await budget.learn(scout, report);
      await clock.advance(40);
      const ticket = await second;
      const third = budget.take('action');
      await asleep(clock);
      await other.learn(ticket, answered(3, 60_000));
      await advanceUntil(clock, third);

      expect((await budget.state()).remaining).toBe(2);
    },
  );

  test('a process that died with the first request delays the others for ten seconds at most', async () => {
    const { budget, other, clock } = open();
    const began = clock.now();
    await budget.take('action');

    await advanceUntil(clock, other.take('action'));

    expect(clock.now() - began).toBe(10_000);
  });

  test('an answer that is as slow as the next one still counts', async () => {
    const { budget, clock } = open();
    const first = await budget.take('action');
    await clock.advance(10_000);
    await budget.take('action');

    await budget.learn(first, answered(12, 50_000));

    expect((await budget.state()).remaining).toBe(12);
    await budget.takeNow('action');
  });

  test('a late answer of the previous window does not count for the new one', async () => {
    const { budget, other, clock } = open();
    await begin(budget);
    const late = await budget.take('action');
    await clock.advance(60_000);
    const scout = await budget.take('action');
    const waiting = other.take('action');
    await asleep(clock);

    await budget.learn(late, answered(3, 1_000));
    await clock.advance(40);
    await asleep(clock);
    await budget.learn(scout, answered(19, 60_000));
    await advanceUntil(clock, waiting);
    await budget.learn(late, { kind: 'limited', limit: 20, remaining: 0, resetMs: 1_000 });

    expect((await budget.state()).remaining).toBe(18);
  });

  test('a late failure of the previous window does not send a second scout', async () => {
    const { budget, other, clock } = open();
    await begin(budget);
    const late = await budget.take('action');
    await clock.advance(60_000);
    await budget.take('action');

    await budget.learn(late, undefined);

    const waiting = new AbortController();
    const third = other.take('action', waiting.signal);
    await asleep(clock);
    waiting.abort(new Error('enough'));
    await expect(third).rejects.toThrow('enough');
  });
});

describe('a window', () => {
  test('is used up except for the reserve, by all processes together', async () => {
    const { budget, other } = open({ reserve: 0.25 });
    await begin(budget);

    const taken = (await takeAll(budget, 'person')) + (await takeAll(other, 'person'));

    expect(1 + taken).toBe(15);
    expect((await budget.state()).remaining).toBe(5);
  });

  test('when it is spent, returns the time to retry, and then continues', async () => {
    const { budget, clock, account } = open();
    const ends = clock.now() + 60_000;
    await begin(budget, 0);

    const spent: unknown = await budget.takeNow('action').catch((error: unknown) => error);
    expect(spent).toMatchObject({ code: 'BUDGET_SPENT', account, until: ends });
    expect((spent as Error).message).toContain('is spent until 2026-11-21T12:01:00.000Z');

    const waiting = budget.take('action');
    await asleep(clock);
    await clock.advance(59_999);
    expect(clock.sleepers()).toBe(1);
    await clock.advance(1);
    await waiting;
  });

  test('requests of other clients of the account are seen in the next answer', async () => {
    const { budget } = open();
    await begin(budget);
    const ticket = await budget.take('action');

    await budget.learn(ticket, answered(2, 59_000));

    expect(await takeAll(budget, 'person')).toBe(2);
  });

  test('is counted down by requests in flight, in any order of their answers', async () => {
    const { budget } = open();
    await begin(budget);
    const first = await budget.take('action');
    const second = await budget.take('action');
    const third = await budget.take('action');

    await budget.learn(second, answered(17, 59_000));
    expect((await budget.state()).remaining).toBe(16);
    await budget.learn(third, answered(16, 59_000));
    await budget.learn(first, answered(18, 60_000));

    expect((await budget.state()).remaining).toBe(16);
  });

  test('that ended earlier than expected is detected by an answer of the next one', async () => {
    const { budget, clock } = open();
    await begin(budget, 10, 60_000);
    const ticket = await budget.take('action');
    await clock.advance(59_500);

    await budget.learn(ticket, answered(19, 60_000));

    expect(await budget.state()).toMatchObject({ remaining: 19, resetsAt: clock.now() + 60_000 });
  });

  test('without rate headers our own count is used, with the current limit of the settings', async () => {
    const { budget, changed, clock } = open({ perMinute: 5 });
    const scout = await budget.take('action');
    await budget.learn(scout, { kind: 'answered' });
    expect(1 + (await takeAll(budget, 'person'))).toBe(5);

    await clock.advance(60_000);
    const edited = changed(3);
    await edited.learn(await edited.take('person'), { kind: 'answered' });

    expect(1 + (await takeAll(edited, 'person'))).toBe(3);
  });

  test('seconds that the service rounds down are detected, and from then on no request is too early', async () => {
    const { budget, clock } = open();
    await begin(budget);
    await clock.advance(60_000);
    const early = await budget.take('action');
    await budget.learn(early, answered(4, 0));

    expect((await budget.state()).resetsAt).toBe(clock.now() + 1_000);
    await clock.advance(1_000);
    await begin(budget, 19, 59_000);

    expect((await budget.state()).resetsAt).toBe(clock.now() + 60_000);
  });
});

describe('a 429', () => {
  test('makes every process wait until the window ends, whatever the count is', async () => {
    const { budget, other, clock } = open();
    await begin(budget);
    const ticket = await budget.take('action');

    await budget.learn(ticket, { kind: 'limited', limit: 20, remaining: 0, resetMs: 20_000 });

    await expect(other.takeNow('person')).rejects.toMatchObject({ until: clock.now() + 20_000 });
    await clock.advance(20_000);
    await other.takeNow('person');
  });

  test('that does not report the end of the window makes requests wait for a whole window', async () => {
    const { budget, clock } = open();
    const scout = await budget.take('action');

    await budget.learn(scout, { kind: 'limited' });

    await expect(budget.takeNow('person')).rejects.toMatchObject({ until: clock.now() + 60_000 });
  });

  test('in the last second of a window does not lengthen later windows', async () => {
    const { budget, clock } = open();
    const scout = await budget.take('action');
    await budget.learn(scout, { kind: 'limited', limit: 20, remaining: 0, resetMs: 1_000 });
    await clock.advance(1_000);

    await begin(budget);

    expect((await budget.state()).resetsAt).toBe(clock.now() + 60_000);
  });
});

describe('the classes of requests', () => {
  test('less urgent classes leave the shares of the more urgent ones', async () => {
    const { budget } = await openHundred();

    expect(1 + (await takeAll(budget, 'action'))).toBe(85);
    expect(await takeAll(budget, 'follow')).toBe(3);
    expect(await takeAll(budget, 'control')).toBe(1);
    expect(await takeAll(budget, 'person')).toBe(11);
  });

  test('less urgent classes have a part too, while they ask for requests', async () => {
    const { budget, clock } = await openHundred();
    await budget.takeNow('follow');
    await budget.takeNow('action');

    expect(await takeAll(budget, 'person')).toBe(94);
    expect(await takeAll(budget, 'follow')).toBe(1);
    await clock.advance(59_000);
    expect(await takeAll(budget, 'action')).toBe(2);
  });

  test('a class that did not ask recently is left half of its share: the rest can be used immediately', async () => {
    const { budget, clock } = await openHundred();
    await clock.advance(180_000);

    await budget.learn(await budget.take('action'), answered(99, 60_000, 100));

    expect(1 + (await takeAll(budget, 'action'))).toBe(90);
    expect(await takeAll(budget, 'person')).toBe(10);
  });

  test('a predictable class is left its expected requests, by the previous window, and less as time passes', async () => {
    const { budget, clock } = await openHundred();
    await budget.takeNow('follow');
    await budget.takeNow('follow');
    await clock.advance(60_000);
    await budget.learn(await budget.take('follow'), answered(99, 60_000, 100));

    // 12 for persons, 1 for control, and 4 of its 6 for following, which asked for 2 in a whole window.
    expect(1 + (await takeAll(budget, 'action'))).toBe(83);
    await clock.advance(40_000);
    expect(await takeAll(budget, 'action')).toBe(2);
  });

  test('a person who asks late in the window finds requests, even if runs want all of them', async () => {
    const { budget, clock } = await openHundred();
    await takeAll(budget, 'action');
    await clock.advance(45_000);

    expect(await takeAll(budget, 'action')).toBe(3);
    expect(await takeAll(budget, 'person')).toBeGreaterThan(0);
  });

  test('records get no more than their share while runs work, and the rest when none does', async () => {
    const { budget, clock } = open({ perMinute: 100 });
    await begin(budget, 100, 60_000, 100);
    await budget.takeNow('action');

    expect(await takeAll(budget, 'record')).toBe(4);
    await clock.advance(58_300);
    expect(await takeAll(budget, 'record'), 'what the others have left').toBeGreaterThan(50);

    const { budget: idle } = open({ perMinute: 100 });
    await begin(idle, 100, 60_000, 100);
    expect(await takeAll(idle, 'record')).toBeGreaterThan(70);
  });

  test('reservations for more urgent classes are released to all before the window ends', async () => {
    const { budget, clock } = await openHundred();
    const endsAt = clock.now() + 60_000;
    const first = await takeAll(budget, 'action');
    expect(first).toBeLessThan(92);

    await advanceUntil(clock, budget.take('action'), 1_000);
    await clock.advance(endsAt - 1_400 - clock.now());

    expect(first + 1 + (await takeAll(budget, 'action'))).toBe(99);
  });

  test('in a window of five seconds everything is granted in time too', async () => {
    const { budget, clock } = open({ perMinute: 100 });
    await begin(budget, 99, 5_000, 100);
    await takeAll(budget, 'action');
    expect((await budget.state()).remaining).toBe(15);
    await clock.advance(3_900);

    expect(await takeAll(budget, 'action')).toBe(15);
  });
});

describe('waiting', () => {
  test('ends with the reason of its signal, before and while it waits', async () => {
    const { budget, clock } = open();
    await begin(budget, 0);
    await expect(budget.take('person', AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');

    const leaving = new AbortController();
    const waiting = budget.take('person', leaving.signal);
    await asleep(clock);
    leaving.abort(new Error('we are stopping'));

    await expect(waiting).rejects.toThrow('we are stopping');
  });

  test('in place is short: a request that holds a slot waits only for a scout', async () => {
    const { budget, other, clock } = open();
    const scout = await budget.take('action');
    const patient = other.takeNow('action');
    await asleep(clock);
    await clock.advance(200);
    await asleep(clock);
    await budget.learn(scout, answered(19, 60_000));
    await advanceUntil(clock, patient);

    await clock.advance(60_000);
    await budget.take('action');
    const began = clock.now();
    const left = await advanceUntil(
      clock,
      other.takeNow('action').catch((error: unknown) => error),
    );
    expect(left).toBeInstanceOf(BudgetSpentError);
    expect(clock.now() - began).toBeLessThanOrEqual(400);
    // A caller that gives up does not retry immediately, again and again, while the scout gets no answer.
    expect((left as BudgetSpentError).until - clock.now()).toBe(1_000);
  });

  test('survives a restart of Redis, which keeps the window', async () => {
    const { own, connection } = await openOwn();
    const options = { requestsPerMinute: 20, reserve: 0 };
    const budget = openBudget(connection, heldClock(), 'restarted', options);
    await begin(budget, 9);

    await own.kill();
    const taking = budget.take('person');
    await own.restart();
    await taking;

    expect((await budget.state()).remaining).toBe(8);
  });
});

describe('while Redis is unavailable', () => {
  /** A Redis that dies, and budgets of two processes on it that have both sent something. */
  async function openMortal(whenRedisIsDown: 'stop' | 'share') {
    const { own, connection } = await openOwn();
    const clock = heldClock();
    const [here, there] = ['here', 'there'].map((process) =>
      openBudget(connection, clock, 'mortal', {
        requestsPerMinute: 20,
        reserve: 0.1,
        whenRedisIsDown,
        process,
      }),
    );
    if (!here || !there) throw new Error('There are two.');
    await begin(here);
    await there.learn(await there.take('action'), answered(18, 60_000));
    await clock.advance(60_000);
    await begin(here);
    const died = new Promise((resolve) => connection.once('close', resolve));
    await own.kill();
    await died;
    return { own, clock, here, connection };
  }

  test('requests wait for it, and an aborted wait ends immediately', async () => {
    const { own, here, connection } = await openMortal('stop');
    const leaving = new AbortController();
    const waiting = here.take('person', leaving.signal);
    const patient = here.take('action');

    leaving.abort(new Error('we are stopping'));
    await expect(waiting).rejects.toThrow('we are stopping');
    // Also while the connection is being opened again.
    await once(connection, 'connecting');
    await expect(here.learn({ window: 2 }, answered(3, 60_000))).rejects.toThrow('Redis is unavailable');

    await own.restart();
    await patient;
  });

  test('each process continues with its part of the limit, with whenRedisIsDown: share', async () => {
    const { own, clock, here } = await openMortal('share');
    expect(await takeAll(here, 'action')).toBe(9);

    await clock.advance(60_000);
    const ticket = await here.take('person');
    await here.learn(ticket, { kind: 'limited', resetMs: 30_000 });
    await expect(here.takeNow('person')).rejects.toMatchObject({ until: clock.now() + 30_000 });
    await clock.advance(30_000);
    expect(await takeAll(here, 'action')).toBe(8);

    await own.restart();
    await here.state();
    // Whoever asks first finds out about the window; the other waits a moment for that.
    await advanceUntil(clock, here.takeNow('action'));
  });

  test('a request that was already waiting continues too', async () => {
    const { own, here, clock } = await openMortal('share');
    await own.restart();
    await here.state();
    await clock.advance(60_000);
    await begin(here, 9);
    await own.kill();
    await here.take('person');
  });
});

test('the last report of a command is stored, although it disconnected immediately and Redis had lost the script', async () => {
  const { account, clock, budget: next } = open();
  const connection = redis.duplicate();
  const own = openBudget(connection, clock, account, { requestsPerMinute: 20, reserve: 0 });
  const ticket = await own.take('person');
  await redis.script('FLUSH');

  const told = own.learn(ticket, answered(11, 60_000));
  await connection.quit();

  await told;
  expect((await next.state()).remaining).toBe(11);
});

describe('who uses the window', () => {
  test('is shown by class, by process, and with the use by other clients', async () => {
    const { budget, account, clock } = open({ perMinute: 100, reserve: 0.1 });
    const named = (process: string) =>
      openBudget(redis, clock, account, { requestsPerMinute: 100, reserve: 0.1, process });
    const [east, west] = [named('east'), named('west')];
    await begin(east, 89, 60_000, 100);
    const last = await west.take('action');
    await west.take('action');
    await west.learn(last, answered(67, 58_000, 100));

    expect(await budget.usage()).toEqual({
      limit: 100,
      reserved: 10,
      window: {
        remaining: 67,
        resetsAt: clock.now() + 58_000,
        classes: { person: 1, control: 0, follow: 0, action: 2, record: 0 },
        processes: { west: 2, east: 1 },
        others: 30,
      },
      othersPerMinute: 30,
    });
  });

  test('a request of ours in flight does not count as one of another client', async () => {
    const { budget } = open();
    const first = await begin(budget);
    await takeAll(budget, 'action');
    await budget.learn(first, answered(18, 60_000));

    expect((await budget.usage()).othersPerMinute).toBe(0);
  });

  test('what others spent in the previous window counts until this one shows more', async () => {
    const { budget, clock } = open();
    await begin(budget, 9, 60_000);
    await clock.advance(60_000);
    await begin(budget, 17, 60_000);
    expect((await budget.usage()).othersPerMinute).toBe(10);

    await budget.learn(await budget.take('follow'), answered(4, 60_000));
    expect((await budget.usage()).othersPerMinute).toBe(14);
  });

  test('is unknown without a recent request', async () => {
    const { budget, clock } = open();
    await begin(budget, 9, 60_000);
    await clock.advance(60_000 * 7);
    expect(await budget.usage()).toEqual({ limit: 20, reserved: 0 });
  });

  test('is not overestimated when the first request is at the end of a window', async () => {
    const { budget } = open();
    await begin(budget, 9, 4_000);
    expect((await budget.usage()).othersPerMinute).toBe(10);
  });

  test('is shown in requests per minute, whatever the length of the window', async () => {
    const { budget, clock } = open();
    await begin(budget, 19, 5_000);
    await clock.advance(5_000);
    await begin(budget, 14, 5_000);
    expect((await budget.usage()).othersPerMinute).toBe(60);
  });
});

describe('the state of the budget', () => {
  test('before the first request it is the limit of the settings', async () => {
    const { budget } = open({ perMinute: 200, reserve: 0.1 });

    expect(await budget.state()).toEqual({
      limit: 200,
      remaining: 200,
      resetsAt: 0,
      granted: { person: 0, control: 0, follow: 0, action: 0, record: 0 },
    });
  });

  test('availableForActions is what actions may still send in this window, or in the next one if it has ended', async () => {
    const { budget, clock } = open({ reserve: 0.25 });
    await begin(budget, 59, 60_000, 100);
    expect(await budget.availableForActions()).toBe(24);
    await takeAll(budget, 'person');
    expect(await budget.availableForActions()).toBe(0);

    await clock.advance(60_000);

    expect(await budget.availableForActions()).toBe(64);
    expect(await budget.state()).toMatchObject({ limit: 100, remaining: 100 });
  });

  test('one request may always open a new window, however large the reserve', async () => {
    const { budget } = open({ perMinute: 1, reserve: 0.9 });
    expect(await budget.availableForActions()).toBe(1);
    await budget.takeNow('action');
  });

  test('the start of an outage is known until a request gets a usable answer', async () => {
    const { budget, clock } = open();
    const ticket = await begin(budget);
    expect(await budget.state()).not.toHaveProperty('failingSince');
    const since = clock.now();
    await budget.learn(ticket, { kind: 'failed' });
    await clock.advance(5_000);
    await budget.learn(ticket, { kind: 'failed' });
    await budget.learn(ticket, undefined);
    expect((await budget.state()).failingSince).toBe(since);

    // A 429 counts too.
    await budget.learn(ticket, { kind: 'limited' });
    expect(await budget.state()).not.toHaveProperty('failingSince');
  });

  test('an outage is shown by the tickets that are granted meanwhile, and does not count for another address', async () => {
    const { budget, clock, account } = open();
    const options = { requestsPerMinute: 20, reserve: 0, address: 'https://moved.example/api/v6' };
    const moved = openBudget(redis, clock, account, options);
    const since = clock.now();
    const ticket = await begin(budget);
    expect(ticket.duringOutage).toBeUndefined();
    await budget.learn(ticket, { kind: 'failed' });

    expect(await budget.state()).toMatchObject({ failingSince: since, failedAt: since });
    expect((await budget.take('person')).duringOutage).toBe(true);
    expect(await moved.state()).not.toHaveProperty('failingSince');
    expect((await moved.take('person')).duringOutage).toBeUndefined();

    await budget.learn(ticket, answered(10, 50_000));
    expect((await budget.take('person')).duringOutage).toBeUndefined();

    await budget.learn(ticket, { kind: 'failed' });
    await clock.advance(5_000);
    await moved.learn(await moved.take('person'), { kind: 'failed' });
    expect(await moved.state()).toMatchObject({ failingSince: since + 5_000 });
  });

  test('expires an hour after the last window', async () => {
    const { budget, account } = open();
    await budget.take('person');
    expect(await redis.pttl(`{caretaker}:budget:${account}`)).toBeGreaterThan(59 * 60_000);
  });
});
