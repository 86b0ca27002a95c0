import { beforeEach, describe, expect, test } from 'vitest';
import type { CaretakerEvent } from '../../src/records/events.ts';
import { openRecords } from '../../src/records/records.ts';
import type { Run, RunStatus } from '../../src/run/run.ts';
import { aRun, aTarget } from '../support/builders.ts';
import { type CutRedis, openCutRedis } from '../support/cut-redis.ts';
import { redisOfFile } from '../support/redis-of-file.ts';
import { begun, claimed, planning } from './begun.ts';

const { redis, server } = await redisOfFile();
const records = openRecords(redis);
const limits = { concurrency: 5, targetMs: 60_000 };
beforeEach(() => redis.flushall());

async function created(changes: Partial<Run> = {}): Promise<Run> {
  const run = aRun(changes);
  await records.runs.create(run, limits);
  return run;
}

/** Moves a run through these statuses, as the engine does. */
async function through(run: Run, ...statuses: RunStatus[]): Promise<void> {
  for (const [index, status] of statuses.entries())
    await records.runs.move(run, status, { at: 2_000 + index });
}

const ids = (runs: readonly Run[]) => runs.map(({ id }) => id);

describe('a run', () => {
  test('is stored with all its fields', async () => {
    const run = aRun({
      retryOf: 'nightly.0',
      detail: 'Why: "quotes", ünïcode',
      deadline: 9_000_000_000_001,
      counts: { planned: 5, succeeded: 1, failed: 2, skipped: 1, cancelled: 1 },
      requests: 7,
      requestsByOperation: { syncSite: 5, listSites: 2 },
      planComplete: true,
      ending: 'safety-limit',
      startedAt: 1_795_262_400_001,
    });
    await records.runs.create(run, limits);
    expect(await records.runs.get(run.id)).toEqual(run);
    expect(await records.runs.get('nowhere')).toBeUndefined();
  });

  test('over named targets stores their ids, however many', async () => {
    const chosen = Array.from({ length: 1_201 }, (_, index) => `site-${index}`);
    const run = aRun();
    await records.runs.create(run, limits, { only: chosen });
    expect(await records.runs.only(run.id)).toEqual(chosen);
    expect(await records.runs.only((await created()).id)).toEqual([]);
  });

  test('is created once, however many daemons fire it', async () => {
    const run = aRun();
    const made = await Promise.all([1, 2, 3].map(() => records.runs.create(run, limits)));
    expect(made.sort()).toEqual(['created', 'exists', 'exists']);
  });

  test('publishes one event when it is created, so that open pages show it', async () => {
    const heard: CaretakerEvent[] = [];
    let hear = () => {};
    const told = new Promise<void>((resolve) => {
      hear = resolve;
    });
    const stop = await records.listen((event) => {
      heard.push(event);
      if ('run' in event && event.run === 'the-last') hear();
    });
    const run = aRun();
    await Promise.all([1, 2].map(() => records.runs.create(run, limits)));
    await created({ id: 'the-last', status: 'skipped' });
    await told;
    await stop();

    expect(
      heard.map((event) => [event.type, 'run' in event && event.run, 'status' in event && event.status]),
    ).toEqual([
      ['run.moved', run.id, 'queued'],
      ['run.moved', 'the-last', 'skipped'],
    ]);
  });

  test('is counted in its current status only', async () => {
    await through(await created(), 'planning', 'running');
    await through(await created(), 'planning', 'running');
    await through(await created(), 'planning', 'running', 'partial');
    const counts = await records.runs.countByStatus();
    expect([...counts].filter(([, count]) => count > 0)).toEqual([
      ['running', 2],
      ['partial', 1],
    ]);
  });

  test('counts its requests by operation and in total', async () => {
    const run = aRun();
    await records.runs.create(run, limits);
    await records.runs.countRequests(run.id, { listSites: 2 });
    expect((await records.runs.get(run.id))?.requestsByOperation).toEqual({ listSites: 2 });
    await records.runs.countRequests(run.id, {});
    await records.runs.countRequests(run.id, { listSites: 1, syncSite: 2 });
    expect(await records.runs.get(run.id)).toMatchObject({
      requests: 5,
      requestsByOperation: { listSites: 3, syncSite: 2 },
    });
  });

  test('that is cancelled twice keeps its first reason', async () => {
    const run = await created();
    await records.runs.end(run, 'safety-limit', 'Too many failed.');
    await records.runs.end(run, 'cancelled', 'By hand.');
    expect(await records.runs.get(run.id)).toMatchObject({
      ending: 'safety-limit',
      detail: 'Too many failed.',
    });
    expect(await records.runs.get(run.id)).not.toHaveProperty('cancelTasks');

    await records.runs.clearDetail(run.id);
    expect(await records.runs.get(run.id)).not.toHaveProperty('detail');
  });

  test('whose tasks are to be cancelled stores that for the process that takes it over', async () => {
    const run = await created();
    await records.runs.end(run, 'cancelled', 'By hand.', { cancelTasks: true });
    expect(await records.runs.get(run.id)).toMatchObject({ ending: 'cancelled', cancelTasks: true });
  });
});

describe('a move', () => {
  test('is applied when the current status allows it, with the other changed fields', async () => {
    const run = await created();
    expect(await records.runs.move(run, 'planning', { at: 2_000, deadline: 9_000 })).toBe(true);
    expect(await records.runs.move(run, 'running', { at: 3_000, planComplete: true })).toBe(true);
    expect(await records.runs.move(run, 'partial', { at: 4_000, detail: 'Two failed.' })).toBe(true);
    expect(await records.runs.get(run.id)).toMatchObject({
      status: 'partial',
      startedAt: 2_000,
      finishedAt: 4_000,
      deadline: 9_000,
      planComplete: true,
      detail: 'Two failed.',
    });
  });

  test('is refused when another process was first, and when the run does not exist', async () => {
    const run = await created();
    await through(run, 'planning', 'running', 'succeeded');
    expect(await records.runs.move(run, 'failed', { at: 5_000 })).toBe(false);
    expect(await records.runs.get(run.id)).toMatchObject({ status: 'succeeded' });
    expect(await records.runs.move(aRun(), 'planning', { at: 1 })).toBe(false);
  });

  test('of a planner that was overtaken is refused', async () => {
    const { run, fence: overtaken } = await planning(records, []);
    const latest = await records.plans.begin(run.id);
    expect(await records.runs.move(run, 'running', { at: 3_000, planFence: overtaken })).toBe(false);
    expect(await records.runs.move(run, 'running', { at: 3_000, planFence: latest })).toBe(true);
  });

  test('to a final status is applied by exactly one of many processes', async () => {
    const run = await created();
    await through(run, 'planning', 'running');
    const moves = await Promise.all(
      [1, 2, 3, 4].map(() => records.runs.move(run, 'succeeded', { at: 3_000 })),
    );
    expect(moves.filter(Boolean)).toHaveLength(1);
  });

  test('to a final status is refused while a target is active, and applied once when each has its outcome', async () => {
    const { run, fence: planStep } = await planning(records, [aTarget('a')]);
    await records.runs.move(run, 'running', { at: 2_000, planComplete: true });
    const target = await claimed(records, run, 2_000);

    // As by a planner that had an error after its plan was complete, and by a supervisor that read the run
    // earlier.
    expect(await records.runs.move(run, 'failed', { at: 3_000, planFence: planStep })).toBe(false);
    expect(await records.runs.move(run, 'failed', { at: 3_000 })).toBe(false);

    const ended = aTarget(target.id, { ...target, state: 'ended' });
    await records.targets.move(run, ended, { from: ['acting'], at: 4_000 });
    expect(await records.runs.move(run, 'succeeded', { at: 4_000 })).toBe(true);
    const working = ['pending', 'acting', 'following', 'waiting', 'deadlines'];
    expect(await redis.exists(working.map((name) => `{caretaker}:run:${run.id}:${name}`))).toBe(0);
  });

  test('back to planning is refused once the plan is complete', async () => {
    const run = await begun(records, []);
    await records.runs.move(run, 'blocked', { at: 3_000 });
    expect(await records.runs.move(run, 'planning', { at: 4_000 })).toBe(false);
    expect(await records.runs.move(run, 'running', { at: 4_000 })).toBe(true);
  });

  test('is published to every listener', async () => {
    const run = await created();
    const heard = new Promise<CaretakerEvent>((resolve) => {
      void records.listen(resolve).then(() => records.runs.move(run, 'planning', { at: 2_000 }));
    });
    expect(await heard).toEqual({
      type: 'run.moved',
      run: run.id,
      policy: 'nightly',
      status: 'planning',
      at: 2_000,
    });
  });

  test('keeps the time at which the run began when it plans again', async () => {
    const run = await created();
    await through(run, 'planning', 'blocked');
    const blocked = await records.runs.get(run.id);
    if (blocked) await records.runs.move(blocked, 'planning', { at: 9_000 });
    expect((await records.runs.get(run.id))?.startedAt).toBe(2_000);
  });
});

describe('a run that was removed from Redis', () => {
  test('is not restored in part by any later write', async () => {
    const { run, fence: step } = await planning(records, [aTarget('a')]);
    await records.runs.move(run, 'running', { at: 2_000, planComplete: true });
    const [released = { id: '', fence: 0 }] = await records.targets.dispatch(run.id, 2_000, 1);
    const { target } = (await records.targets.claim(run, released, 2_000)) ?? {};
    if (!target) throw new Error('Nobody else can have claimed it.');
    await redis.flushall();

    const ended = aTarget(target.id, { ...target, state: 'ended' });
    await records.targets.move(run, ended, { from: ['acting'], spent: { syncSite: 1 }, at: 3_000 });
    await records.targets.renew(run.id, target, 3_000);
    await records.targets.noteIntent(run.id, target, { operation: 'syncSite', at: 3_000 });
    await records.targets.claim(run, released, 3_000);
    await records.targets.dispatch(run.id, 3_000, 1);
    await records.plans.begin(run.id);
    await records.plans.add(run.id, step, [aTarget('b')]);
    await records.plans.add(run.id, step, [], {
      excluded: [{ id: 'c', label: 'c.example', why: 'not connected' }],
    });
    await records.plans.order(run.id, step, { spread: { from: 3_000, ms: 1_000 }, first: [] });
    await records.runs.countRequests(run.id, { listSites: 1 });
    await records.plans.note(run.id, step, { spent: { listSites: 1 }, targets: 1 });
    await records.runs.note(run.id, 'The service is away.');
    await records.runs.clearDetail(run.id);
    await records.runs.end(run, 'cancelled', 'It was cancelled.', { cancelTasks: true });
    await records.runs.move(run, 'succeeded', { at: 3_000 });

    expect(await redis.keys('*')).toEqual([]);
  });

  test('leaves nothing behind when it is not created: the list of its targets is written with it', async () => {
    const first = await created();
    const refused = aRun({ policy: first.policy });
    expect(await records.runs.create(refused, limits, { only: ['a'], unless: 'any' })).toBe('overlap');
    expect(await records.runs.only(refused.id)).toEqual([]);
  });
});

describe('when Redis loses its connection before it responds', () => {
  let cut: CutRedis;
  beforeEach(async () => {
    cut = await openCutRedis(server.socketPath);
    return cut.stop;
  });

  test('a run is created once, and the process that created it knows that', async () => {
    const run = aRun();
    cut.loseNextAnswer();
    expect(await openRecords(cut.redis).runs.create(run, limits)).toBe('created');
    expect(cut.lost()).toBe(1);
    expect(await records.runs.create(run, limits)).toBe('exists');
  });

  test('a run is moved once, and the process that moved it knows that', async () => {
    const run = await created();
    const { runs } = openRecords(cut.redis);
    cut.loseNextAnswer();
    expect(await runs.move(run, 'planning', { at: 2_000 })).toBe(true);
    expect(cut.lost()).toBe(1);
    expect(await runs.move(run, 'planning', { at: 2_001 })).toBe(false);
  });
});

describe('the list of runs', () => {
  test('is newest first, and can be filtered by policy, status and start time', async () => {
    const [a, b, c] = [await created(), await created({ policy: 'other' }), await created()];
    await through(c, 'planning');

    expect(ids(await records.runs.list({ limit: 10 }))).toEqual(ids([c, b, a]));
    expect(ids(await records.runs.list({ limit: 2 }))).toEqual(ids([c, b]));
    expect(ids(await records.runs.list({ policy: 'nightly', limit: 10 }))).toEqual(ids([c, a]));
    expect(ids(await records.runs.list({ status: 'queued', limit: 10 }))).toEqual(ids([b, a]));
    expect(ids(await records.runs.list({ policy: 'nightly', status: 'planning', limit: 10 }))).toEqual(
      ids([c]),
    );
    expect(ids(await records.runs.list({ since: b.createdAt, limit: 10 }))).toEqual(ids([c, b]));
    expect(await records.runs.list({ limit: 0 })).toEqual([]);
  });

  test('of active runs contains those of an account, of a policy and in a status, oldest first, until they end', async () => {
    const [ended, first, second] = [await created(), await created(), await created()];
    const other = await created({ policy: 'other' });
    await created({ account: 'elsewhere' });
    expect(ids(await records.runs.active('agency'))).toEqual(ids([ended, first, second, other]));
    expect((await records.runs.activeAccounts()).sort()).toEqual(['agency', 'elsewhere']);

    await through(ended, 'planning', 'failed');
    await through(second, 'planning');

    const active = async (only: { policy?: string; status?: RunStatus }) =>
      ids(await records.runs.active('agency', only));
    expect(await active({})).toEqual(ids([first, second, other]));
    expect(await active({ policy: 'nightly' })).toEqual(ids([first, second]));
    expect(await active({ status: 'planning' })).toEqual(ids([second]));
    expect(await active({ policy: 'other', status: 'queued' })).toEqual(ids([other]));
    expect(await active({ policy: 'other', status: 'planning' })).toEqual([]);
    expect(await active({ policy: 'unknown' })).toEqual([]);
  });

  test('of active runs excludes those that were skipped when created', async () => {
    await created({ status: 'skipped', finishedAt: 1_000 });
    expect(await records.runs.active('agency')).toEqual([]);
    expect(await records.runs.list({ status: 'skipped', limit: 1 })).toHaveLength(1);
  });
});

describe('retention', () => {
  test('removes an old run with everything that belongs to it, and leaves nothing behind in Redis', async () => {
    const { run, fence: step } = await planning(records, [aTarget('a'), aTarget('b')]);
    await records.plans.add(run.id, step, [], {
      excluded: [{ id: 'c', label: 'c.example', why: 'not connected' }],
    });
    await records.runs.move(run, 'running', { at: 2_000, planComplete: true });
    for (let nth = 0; nth < 2; nth += 1) {
      const target = await claimed(records, run, 2_000);
      const ended = aTarget(target.id, { ...target, state: 'ended' });
      await records.targets.move(run, ended, { from: ['acting'], spent: { syncSite: 1 }, at: 2_000 });
    }
    await records.runs.move(run, 'succeeded', { at: 3_000 });
    expect(await records.targets.runsOf('agency', 'a')).toEqual([run.id]);

    expect(await records.runs.prune(run.createdAt + 1)).toBe(1);

    // The totals of an hour are kept for a day, and then expire.
    expect((await redis.keys('*')).sort()).toEqual(['{caretaker}:active-accounts', '{caretaker}:totals:0']);
  });

  test('keeps recent runs, and active runs of any age', async () => {
    const old = await created();
    const young = await created();
    await through(young, 'planning', 'failed');
    expect(await records.runs.prune(young.createdAt)).toBe(0);
    expect(ids(await records.runs.list({ limit: 10 }))).toEqual(ids([young, old]));
  });

  test('that was interrupted is completed the next time', async () => {
    const run = await created({ status: 'skipped' });
    await redis.unlink(`{caretaker}:run:${run.id}`);
    expect(await records.runs.list({ limit: 10 })).toEqual([]);
    expect(await records.runs.prune(run.createdAt + 1)).toBe(1);
    expect(await redis.zcard('{caretaker}:runs')).toBe(0);
  });
});

test('runs of a policy with a status are found among many others, newest first', async () => {
  const of = (policy: string, number: number) =>
    aRun({
      id: `${policy}.${number}`,
      policy,
      createdAt: 1_000 + number,
      status: number % 300 === 0 ? 'failed' : 'succeeded',
    });
  for (let number = 1; number <= 1_200; number += 1) {
    await records.runs.create(of('noisy', number), limits);
    if (number % 400 === 0) await records.runs.create(of('quiet', number), limits);
  }
  const idsOf = async (query: Parameters<typeof records.runs.list>[0]) =>
    (await records.runs.list(query)).map(({ id }) => id);

  expect(await idsOf({ policy: 'noisy', status: 'failed', limit: 3 })).toEqual([
    'noisy.1200',
    'noisy.900',
    'noisy.600',
  ]);
  expect(await idsOf({ policy: 'noisy', status: 'failed', until: 1_900, limit: 3 })).toEqual([
    'noisy.600',
    'noisy.300',
  ]);
  expect(await idsOf({ policy: 'quiet', status: 'failed', limit: 3 })).toEqual(['quiet.1200']);
  expect(await idsOf({ policy: 'noisy', status: 'cancelled', limit: 3 })).toEqual([]);
  expect(await records.runs.list({ limit: 230 })).toHaveLength(230);
});

test('pages of runs that were created in one millisecond have each run once, with several policies and for one reader', async () => {
  const of = (policy: string, number: number, createdAt: number) =>
    aRun({ id: `${policy}.${number}`, policy, createdAt });
  for (let number = 0; number < 7; number += 1) {
    await records.runs.create(of('a', number, 5_000), limits);
    await records.runs.create(of('b', number, 5_000 + (number % 2)), limits);
    await records.runs.create(of('c', number, 5_000), limits);
  }
  const pagesOf = async (query: Omit<Parameters<typeof records.runs.list>[0], 'limit'>) => {
    const found: string[] = [];
    for (let after = query.after; ; ) {
      const page = await records.runs.list({ ...query, after, limit: 2 });
      found.push(...page.map(({ id }) => id));
      if (page.length < 2) return found;
      after = page.at(-1);
    }
  };

  const all = await pagesOf({});
  expect(all).toHaveLength(21);
  expect(new Set(all).size).toBe(21);
  expect(all.slice(0, 4)).toEqual(['b.5', 'b.3', 'b.1', 'c.6']);
  expect(await pagesOf({ policy: ['a', 'b', 'a'] })).toEqual(all.filter((id) => !id.startsWith('c')));
  expect(await pagesOf({ sees: ({ policy }) => policy === 'c' })).toEqual(
    all.filter((id) => id.startsWith('c')),
  );
  expect(await pagesOf({ until: 5_001 })).toEqual(all.slice(3));
});
