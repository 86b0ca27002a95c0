import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Entry, type Handlers, openQueues, type Queues, type Working } from '../../src/queue/queues.ts';
import { keptLog } from '../support/quiet.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';

let server: TestRedis;
let redis: Redis;
let queues: Queues;
let log: ReturnType<typeof keptLog>;
let working: Working[] = [];
let doors: (() => unknown)[] = [];

beforeAll(async () => {
  server = await startTestRedis();
});
afterAll(() => server.stop());
beforeEach(async () => {
  redis = new Redis({ ...server.options, maxRetriesPerRequest: null, retryStrategy: () => 10 });
  redis.on('error', () => undefined);
  await redis.flushall();
  log = keptLog();
  queues = openQueues(redis, log);
});
afterEach(async () => {
  for (const open of doors) open();
  doors = [];
  await Promise.all(working.map((one) => one.stop()));
  working = [];
  await queues.close();
  redis.disconnect();
});

const act = (target: string, fence = 1): Entry => ({ kind: 'act', run: 'nightly.1', target, fence });
const plan = (run: string): Entry => ({ kind: 'plan', run });

/** Works, and keeps what it was given. */
function work(handlers: Partial<Handlers> = {}, concurrency = 5): Entry[] {
  const done: Entry[] = [];
  const note = async (entry: Entry) => {
    done.push(entry);
  };
  working.push(queues.work({ plan: note, act: note, ...handlers }, concurrency));
  return done;
}

const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 20_000, interval: 5 });

/** A door that stays shut until it is opened, at the latest by the end of the test. */
function door() {
  let open = () => undefined as unknown;
  const opened = new Promise<void>((resolve) => {
    open = () => resolve();
  });
  doors.push(open);
  return { opened, open };
}

describe('an entry', () => {
  test('is given to the worker of its kind, as it was put', async () => {
    const done = work();
    await queues.put([plan('nightly.1'), act('site-1', 3)]);
    await eventually(() => expect(done).toHaveLength(2));
    expect(done).toEqual(expect.arrayContaining([plan('nightly.1'), act('site-1', 3)]));
  });

  test('that is there already is not put twice', async () => {
    await queues.put([act('site-1'), act('site-1'), plan('nightly.1')]);
    await queues.put([act('site-1'), act('site-1', 2), plan('nightly.1')]);
    expect(await queues.counts()).toEqual({
      plans: { waiting: 1, active: 0 },
      actions: { waiting: 2, active: 0 },
    });
  });

  test('that is being worked on is not put again either, and can be once it is done', async () => {
    const { opened, open } = door();
    const done: Entry[] = [];
    work({
      async act(entry) {
        done.push(entry);
        await opened;
      },
    });
    await queues.put([act('site-1')]);
    await eventually(() => expect(done).toHaveLength(1));
    await queues.put([act('site-1')]);
    expect((await queues.counts())['actions']).toEqual({ waiting: 0, active: 1 });

    open();
    await eventually(async () => expect((await queues.counts())['actions']?.active).toBe(0));
    await queues.put([act('site-1')]);
    await eventually(() => expect(done).toHaveLength(2));
  });

  test('may name a target of any characters, and no two targets share one', async () => {
    const names = ['a:b', 'ä/?&', '42', ' ', 'a.b', 'YTpi', '😀'];
    const done = work();
    await queues.put(names.map((name) => act(name)));
    await eventually(() => expect(done).toHaveLength(names.length));
    expect(done.map((entry) => entry.kind === 'act' && entry.target).sort()).toEqual([...names].sort());
  });

  test('leaves nothing behind in Redis when it is done', async () => {
    const done = work();
    await queues.put([act('site-1'), plan('nightly.1')]);
    await eventually(() => expect(done).toHaveLength(2));
    await eventually(async () => expect(await redis.keys('*nightly.1*')).toEqual([]));
  });

  test('whose worker fails is told in the log, leaves nothing behind, and can be put again', async () => {
    let tries = 0;
    work({
      act() {
        tries += 1;
        return Promise.reject(new Error('out of luck: password=hunter2'));
      },
    });
    await queues.put([act('site-1')]);
    await eventually(() => expect(log.lines.join()).toContain('error an entry failed'));
    expect(log.lines.join()).toContain('out of luck');
    const told = await redis.xrange('{caretaker}:queue:actions:events', '-', '+');
    expect(JSON.stringify(told)).toContain('out of luck: password=[hidden]');
    expect(JSON.stringify(told)).not.toContain('hunter2');
    await eventually(async () => expect(await redis.keys('*nightly.1*')).toEqual([]));

    await queues.put([act('site-1')]);
    await eventually(() => expect(tries).toBe(2));
  });
});

describe('work', () => {
  test('goes on at as many actions as allowed, and at twenty plans', async () => {
    const { opened, open } = door();
    const now = { plan: 0, act: 0 };
    const hold = async ({ kind }: Entry) => {
      now[kind] += 1;
      await opened;
    };
    work({ plan: hold, act: hold }, 3);
    const many = Array.from({ length: 24 }, (_, index) => String(index));
    await queues.put([...many.map((name) => act(name)), ...many.map(plan)]);

    await eventually(() => expect(now).toEqual({ plan: 20, act: 3 }));
    expect(await queues.counts()).toEqual({
      plans: { waiting: 4, active: 20 },
      actions: { waiting: 21, active: 3 },
    });
    open();
    await eventually(() => expect(now).toEqual({ plan: 24, act: 24 }));
  });

  test('that is stopped finishes what is under way and takes nothing more', async () => {
    const { opened, open } = door();
    const done: string[] = [];
    work(
      {
        async act(entry) {
          done.push(`${entry.target} begun`);
          await opened;
          done.push(`${entry.target} done`);
        },
      },
      1,
    );
    await queues.put([act('a')]);
    await eventually(() => expect(done).toHaveLength(1));
    await queues.put([act('b')]);

    const stopped = working.pop()?.stop();
    open();
    await stopped;

    expect(done).toEqual(['a begun', 'a done']);
    expect((await queues.counts())['actions']).toEqual({ waiting: 1, active: 0 });
  });

  test('is shared by all processes, each entry going to one', async () => {
    const others = openQueues(redis, log);
    const mine = work();
    const theirs: Entry[] = [];
    const note = async (entry: Entry) => {
      theirs.push(entry);
    };
    working.push(others.work({ plan: note, act: note }, 5));
    await queues.put(Array.from({ length: 50 }, (_, index) => act(`site-${index}`)));
    await eventually(() => expect(mine.length + theirs.length).toBe(50));
    expect(new Set([...mine, ...theirs].map((entry) => entry.kind === 'act' && entry.target)).size).toBe(50);
    await Promise.all(working.map((one) => one.stop()));
    working = [];
    await others.close();
  });

  test('goes on when Redis was away, and loses no entry', async () => {
    await queues.put([act('before')]);
    await server.kill();
    const putting = queues.put([act('meanwhile')]);
    await server.restart();
    await putting;
    const done = work();
    await eventually(() => expect(done).toEqual([act('before'), act('meanwhile')]));
  });
});

test('bull-board is shown both queues', () => {
  expect(queues.boards().map(({ name }) => name)).toEqual(['plans', 'actions']);
});
