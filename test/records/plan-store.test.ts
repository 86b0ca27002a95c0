/** A plan that is stored in parts by several attempts. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Progress } from '../../src/records/plan-store.ts';
import { openRecords } from '../../src/records/records.ts';
import type { Run } from '../../src/run/run.ts';
import { aRun, aTarget } from '../support/builders.ts';
import { redisOfFile } from '../support/redis-of-file.ts';

const { redis } = await redisOfFile();
const records = openRecords(redis);
const { plans } = records;
beforeEach(() => redis.flushall());

const progress: Progress = {
  position: { round: 1, page: 3, totals: [250] },
  now: 5_000,
  targets: 2,
  seen: { candidates: 4, parents: 0, unseen: ['tag name is Premium'] },
  viewsLeft: 7,
};
const skipped = (id: string) => aTarget(id, { state: 'ended', outcome: 'skipped', reason: 'gone' });
const excluded = (id: string) => ({ id, label: `${id}.example`, why: 'select.where does not hold' });

async function planning(): Promise<Run> {
  const run = aRun();
  await records.runs.create(run, { concurrency: 5, targetMs: 60_000 });
  await records.runs.move(run, 'planning', { at: 1_000 });
  return run;
}

/** Everything that Redis holds of a plan. */
async function contents({ id }: Run) {
  const { counts } = (await records.runs.get(id)) as Run;
  const targets = await records.targets.slice(id, 0, 100);
  return {
    counts,
    targets: targets.map((one) => one.id),
    stored: (await redis.hkeys(`{caretaker}:run:${id}:targets`)).sort(),
    pending: (await records.targets.pending(id, 100)).map((one) => one.id),
    groups: await redis.hkeys(`{caretaker}:run:${id}:groups`),
    reasons: (await records.targets.reasons([id])).get(id),
    excluded: (await records.targets.excluded(id, 0, 100)).map((one) => one.id),
  };
}

const group = { kind: 'client' as const, id: '1', label: 'the client "a"' };

describe('an attempt at planning that continues another', () => {
  test('is given how far that one came, and what it added after that is removed', async () => {
    const run = await planning();
    const first = await plans.begin(run.id);
    await plans.add(run.id, first, [aTarget('a'), skipped('b'), aTarget('c')], {
      excluded: [excluded('x')],
      processed: { progress, listed: ['a', 'b', 'c', 'x'], counts: [['client 1', 2]] },
    });
    const expected = await contents(run);
    await plans.add(run.id, first, [aTarget('d'), skipped('e')], {
      groups: new Map([['d', [group]]]),
      excluded: [excluded('y')],
      excludedBefore: 1,
    });

    const next = await plans.continue(run.id);

    expect(next).toEqual({
      ...{ fence: first + 1, progress, counts: [['client 1', 2]], excluded: 1 },
      listed: expect.arrayContaining(['a', 'b', 'c', 'x']),
    });
    expect(await contents(run)).toEqual(expected);
    expect(await plans.add(run.id, first, [aTarget('late')])).toBe(false);
    expect(await plans.add(run.id, first + 1, [aTarget('d')])).toBe(true);
    expect((await contents(run)).targets).toEqual(['a', 'b', 'c', 'd']);
  });

  test('removes everything when the other one came to the end of no item with a target', async () => {
    const run = await planning();
    const fence = await plans.begin(run.id);
    const expected = await contents(run);
    const processed = { progress, listed: ['nothing'], counts: [] };
    await plans.add(run.id, fence, [], { processed });
    await plans.add(run.id, fence, [aTarget('a'), skipped('b')], { excluded: [excluded('x')] });

    expect(await plans.continue(run.id)).toMatchObject({ listed: ['nothing'], excluded: 0 });

    expect(await contents(run)).toEqual(expected);
  });

  test('is given the same again when it is interrupted itself', async () => {
    const run = await planning();
    const processed = { progress, listed: ['a'], counts: [] };
    await plans.add(run.id, await plans.begin(run.id), [aTarget('a')], { processed });

    const [one, other] = [await plans.continue(run.id), await plans.continue(run.id)];

    expect(other).toEqual({ ...one, fence: (one?.fence ?? 0) + 1 });
  });

  test('has nothing to continue before the first item, after a new beginning, and once the plan is complete', async () => {
    const run = await planning();
    const fence = await plans.begin(run.id);
    expect(await plans.continue(run.id)).toBeUndefined();
    const processed = { progress, listed: ['a'], counts: [] };
    await plans.add(run.id, fence, [aTarget('a')], { processed });
    const again = await plans.begin(run.id);
    expect(await plans.continue(run.id)).toBeUndefined();
    await plans.add(run.id, again, [aTarget('a')], { processed });
    await records.runs.move(run, 'running', { at: 2_000, planComplete: true, planFence: again });

    expect(await plans.continue(run.id)).toBeUndefined();
    expect(await redis.keys('*:progress')).toEqual([]);
    expect(await redis.keys('*:listed')).toEqual([]);
  });

  test('begins anew when the other one had put its targets into their order: the last are not the newest', async () => {
    const run = await planning();
    const fence = await plans.begin(run.id);
    const processed = { progress, listed: ['a', 'b'], counts: [] };
    await plans.add(run.id, fence, [aTarget('a'), aTarget('b')], { processed });
    await plans.add(run.id, fence, [aTarget('c')]);
    await plans.order(run.id, fence, { spread: undefined, first: ['c', 'gone'] });
    expect((await records.targets.pending(run.id, 10)).map(({ id }) => id)).toEqual(['c', 'a', 'b']);

    expect(await plans.continue(run.id)).toBeUndefined();
  });
});

test('a part whose command is sent again is stored once', async () => {
  const run = await planning();
  const fence = await plans.begin(run.id);
  const part = { excluded: [excluded('x')], processed: { progress, listed: ['a', 'x'], counts: [] } };
  await plans.add(run.id, fence, [aTarget('a'), skipped('b')], part);
  const expected = await contents(run);

  await plans.add(run.id, fence, [aTarget('a'), skipped('b')], part);

  expect(await contents(run)).toEqual(expected);
});
