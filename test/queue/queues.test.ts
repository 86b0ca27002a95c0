import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Entry } from '../../src/queue/entry.ts';
import { type Handlers, openQueues, type Queues, type Working } from '../../src/queue/queues.ts';
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

const actOn = (ids: readonly string[], fence = 1): Entry => ({
  kind: 'act',
  run: 'nightly.1',
  targets: ids.map((id) => ({ id, fence })),
});
const act = (id: string, fence?: number): Entry => actOn([id], fence);
/** The only target of an entry. */
const targetOf = (entry: Entry) => (entry.kind === 'act' ? entry.targets[0]?.id : undefined);
const plan = (run: string): Entry => ({ kind: 'plan', run });

/** Works, and keeps what it was given. */
function work(handlers: Partial<Handlers> = {}, concurrency = 5): Entry[] {
  const done: Entry[] = [];
  const note = async (entry: Entry): Promise<undefined> => {
    done.push(entry);
  };
  working.push(queues.work({ plan: note, act: note, ...handlers }, concurrency));
  return done;
}

const eventually = <T>(check: () => T) => vi.waitFor(check, { timeout: 20_000, interval: 5 });

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
      deliveries: { waiting: 0, active: 0 },
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
    expect(done.map(targetOf).sort()).toEqual([...names].sort());
  });

  test('may name several targets, and its name says the first and how many more', async () => {
    const entry = actOn(['site-1', 'site-2', 'site-3']);
    const done = work();
    await queues.put([entry, entry, actOn(['site-1', 'site-2'])]);
    await eventually(() => expect(done).toHaveLength(2));
    expect(done).toEqual([entry, actOn(['site-1', 'site-2'])]);
    const [, actions] = queues.boards();
    await eventually(async () => expect(await actions?.getCompletedCount()).toBe(2));
    expect((await actions?.getCompleted())?.map(({ name }) => name)).toContain('nightly: site-1 and 2 more');
  });

  test('that ended is kept for people: with a name and its result, and is not counted', async () => {
    const report = { result: { outcome: 'succeeded' }, log: ['Requests: syncSite.', 'Outcome: succeeded.'] };
    work({ act: async () => report });
    await queues.put([act('site-1'), plan('nightly.1')]);

    const [actions, plans] = await eventually(async () => {
      const boards = queues.boards();
      expect(boards.map(({ name }) => name)).toEqual(['plans', 'actions', 'deliveries']);
      const found = await Promise.all(boards.map((queue) => queue.getCompleted()));
      expect(found.map(({ length }) => length)).toEqual([1, 1, 0]);
      return [found[1]?.[0], found[0]?.[0]];
    });
    expect(plans?.name).toBe('nightly: plan');
    expect(actions?.name).toBe('nightly: site-1');
    expect(actions?.returnvalue).toEqual({ ...report.result, log: report.log });
    expect(await queues.counts()).toEqual({
      plans: { waiting: 0, active: 0 },
      actions: { waiting: 0, active: 0 },
      deliveries: { waiting: 0, active: 0 },
    });
  });

  test('that ended and is kept does not prevent the same work, however often it is put again', async () => {
    const done = work();
    for (let times = 1; times <= 3; times += 1) {
      await queues.put([act('site-1'), act('site-1'), plan('nightly.1')]);
      await eventually(() => expect(done).toHaveLength(2 * times));
      await eventually(async () =>
        expect(Object.values(await queues.counts()).map(({ active }) => active)).toEqual([0, 0, 0]),
      );
    }
    const [, actions] = queues.boards();
    expect(await actions?.getCompletedCount()).toBe(3);
  });

  test('that ended long ago, or before the last thousand, is removed', async () => {
    const done = work({ act: async () => ({ result: {}, log: ['Outcome: succeeded.'] }) });
    const names = Array.from({ length: 1_020 }, (_, index) => act(`site-${index}`));
    await queues.put(names);
    const [, actions] = queues.boards();
    await eventually(async () =>
      expect((await queues.counts())['actions']).toEqual({ waiting: 0, active: 0 }),
    );
    expect(await actions?.getCompletedCount()).toBe(1_000);
    expect((await redis.keys('{caretaker}:queue:actions:*')).length).toBeLessThan(1_010);
    expect(await redis.keys('{caretaker}:queue:actions:de:*')).toEqual([]);

    // A day later.
    const ended = '{caretaker}:queue:actions:completed';
    for (const id of await redis.zrange(ended, '0', '-1'))
      await redis.zadd(ended, Date.now() - 86_401_000, id);
    await queues.put([act('another')]);
    await eventually(async () => expect(await actions?.getCompletedCount()).toBe(1));
    expect((await redis.keys('{caretaker}:queue:actions:*')).length).toBeLessThan(11);
    expect(done).toEqual([]);
  });

  test('has no secret in its name or result; if its worker fails, this is told without secrets, and it can be put again', async () => {
    let tries = 0;
    work({
      async act(entry) {
        if (targetOf(entry) !== 'fails')
          return {
            result: { why: 'password=hunter2', token: 'hunter2' },
            log: ['It answered: api_key=hunter2'],
          };
        tries += 1;
        throw new Error('out of luck: password=hunter2');
      },
    });
    await queues.put([act('site?token=hunter2'), act('fails')]);
    const [, actions] = queues.boards();
    await eventually(async () => {
      expect(await actions?.getCompletedCount()).toBe(1);
      expect(await actions?.getFailedCount()).toBe(1);
    });
    const [done] = (await actions?.getCompleted()) ?? [];
    const shown = [done?.name, done?.returnvalue];
    expect(JSON.stringify(shown)).toContain('[hidden]');
    expect(JSON.stringify(shown)).not.toContain('hunter2');
    const events = await redis.xrange('{caretaker}:queue:actions:events', '-', '+');
    const [failed] = (await actions?.getFailed()) ?? [];
    expect(failed?.failedReason).toBe('out of luck: password=[hidden]');
    expect(JSON.stringify([events, failed?.stacktrace])).not.toContain('hunter2');
    await eventually(() => expect(log.lines.join()).toMatch(/error an entry failed.*out of luck/));
    await eventually(async () =>
      expect((await queues.counts())['actions']).toEqual({ waiting: 0, active: 0 }),
    );

    await queues.put([act('fails')]);
    await eventually(() => expect(tries).toBe(2));
  });
});

describe('work', () => {
  test('goes on at as many actions as allowed, and at twenty plans', async () => {
    const { opened, open } = door();
    const now = { plan: 0, act: 0, deliver: 0 };
    const hold = async ({ kind }: Entry): Promise<undefined> => {
      now[kind] += 1;
      await opened;
    };
    work({ plan: hold, act: hold }, 3);
    const many = Array.from({ length: 24 }, (_, index) => String(index));
    await queues.put([...many.map((name) => act(name)), ...many.map(plan)]);

    await eventually(() => expect(now).toEqual({ plan: 20, act: 3, deliver: 0 }));
    expect(await queues.counts()).toEqual({
      plans: { waiting: 4, active: 20 },
      actions: { waiting: 21, active: 3 },
      deliveries: { waiting: 0, active: 0 },
    });
    open();
    await eventually(() => expect(now).toEqual({ plan: 24, act: 24, deliver: 0 }));
  });

  test('that is stopped finishes what is under way and takes nothing more', async () => {
    const { opened, open } = door();
    const done: string[] = [];
    work(
      {
        async act(entry) {
          done.push(`${targetOf(entry)} begun`);
          await opened;
          done.push(`${targetOf(entry)} done`);
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

describe('a look at the queues', () => {
  const lookAt = async (name: string, now = Date.now()) =>
    (await queues.look(now)).find(({ queue }) => queue === name);

  test('shows what waits and since when, who has what, and what ended and failed in each minute', async () => {
    await queues.close();
    queues = openQueues(redis, log, { process: 'process-1' });
    const before = Date.now();
    const held = door();
    const fails = async (entry: Entry) => {
      const target = targetOf(entry);
      if (target === 'bad') throw new Error('The disk is full.');
      if (target === 'slow') await held.opened;
      return undefined;
    };
    await queues.put([act('good'), act('bad'), act('slow'), act('next')]);
    work({ act: fails }, 1);
    await eventually(async () => expect((await lookAt('actions'))?.held[0]?.target).toBe('slow'));

    const look = await lookAt('actions');
    expect(look).toMatchObject({ paused: false, waiting: 1, delayed: 0, active: 1 });
    expect(look?.oldestAt).toBeGreaterThanOrEqual(before);
    await queues.put([act('last')]);
    expect((await lookAt('actions'))?.oldestAt).toBe(look?.oldestAt);
    expect(look?.held).toMatchObject([{ run: 'nightly.1', target: 'slow', by: 'process-1' }]);
    expect(look?.failures).toMatchObject([{ target: 'bad', why: 'The disk is full.' }]);
    const sum = (what: 'completed' | 'failed') => look?.minutes.reduce((all, one) => all + one[what], 0);
    expect([sum('completed'), sum('failed')]).toEqual([1, 1]);
    expect(look?.minutes).toHaveLength(180);
    expect(look?.waitedMs).toHaveLength(1);
    // Later they are as many minutes ago.
    const later = await lookAt('actions', Date.now() + 60 * 60_000);
    expect(later?.minutes.slice(-60).every(({ completed }) => completed === 0)).toBe(true);
    expect(later?.minutes.reduce((all, { completed }) => all + completed, 0)).toBe(1);
  });

  test('a paused queue gives its workers nothing until it is resumed; others go on', async () => {
    expect(await queues.pause(['actions'])).toEqual(['actions']);
    expect(await queues.pause(['actions'])).toEqual([]);
    const done = work();
    await queues.put([act('site-1'), plan('nightly.1')]);
    await eventually(() => expect(done).toEqual([plan('nightly.1')]));
    expect(await lookAt('actions')).toMatchObject({ paused: true, waiting: 1 });
    expect(await queues.resume()).toEqual(['actions']);
    await eventually(() => expect(done).toHaveLength(2));
  });
});
