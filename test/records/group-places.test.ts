/** Limits of a client or tag (`limits.per_client`, `limits.per_tag`), in the scripts that move targets. */
import { beforeEach, expect, test } from 'vitest';
import type { Group } from '../../src/records/group-places.ts';
import { keysOfRun } from '../../src/records/keys.ts';
import { openRecords } from '../../src/records/records.ts';
import type { RunLimits } from '../../src/records/run-scripts.ts';
import type { Run, Target } from '../../src/run/run.ts';
import { aTarget } from '../support/builders.ts';
import { redisOfFile } from '../support/redis-of-file.ts';
import { begun } from './begun.ts';

const { redis } = await redisOfFile();
const records = openRecords(redis);
beforeEach(() => redis.flushall());

const NOW = 1_795_262_400_000;
const client = (id: string): Group => ({ kind: 'client', id, label: `the client "${id}"` });
const tag = (id: string): Group => ({ kind: 'tag', id, label: `the tag "${id}"` });

/** A running run with these targets, by their groups. */
function running(groups: readonly (readonly Group[])[], limits: Partial<RunLimits> = {}): Promise<Run> {
  const byId = new Map(groups.flatMap((own, index) => (own.length > 0 ? [[`t${index}`, own] as const] : [])));
  const targets = groups.map((_, index) => aTarget(`t${index}`));
  return begun(records, targets, {
    at: NOW,
    groups: byId,
    limits: { concurrency: 20, perClient: 2, ...limits },
  });
}

const dispatch = async (run: Run, limit = 100) =>
  (await records.targets.dispatch(run.id, NOW, limit)).map(({ id }) => id);

/** Moves a target that was dispatched; as its worker does. */
async function move(run: Run, id: string, to: 'ended' | 'waiting' | 'following') {
  const { state: _, claimed: __, ...target } = (await records.targets.get(run.id, id)) as Target;
  const moved =
    to === 'ended'
      ? { ...target, state: to, outcome: 'succeeded', reason: 'done', finishedAt: NOW }
      : { ...target, state: to, ...(to === 'following' ? { watch: { kind: 'sync', since: NOW } } : {}) };
  const from = ['acting', 'following', 'waiting'] as const;
  expect(await records.targets.move(run, moved as Target, { from: [...from], dueAt: NOW, at: NOW })).toBe(
    true,
  );
}

test('a client has no more targets in flight than its limit, and the others pass those that wait', async () => {
  const run = await running([...Array(5).fill([client('a')]), [client('b')], [], [client('b')]]);

  expect(await dispatch(run)).toEqual(['t0', 't1', 't5', 't6', 't7']);
  expect(await records.targets.get(run.id, 't2')).toMatchObject({
    state: 'waiting',
    detail: 'Waits: 2 of the targets with the client "a" are in flight (limits.per_client.concurrency).',
  });
  expect(await dispatch(run)).toEqual([]);

  await move(run, 't0', 'following');
  expect(await dispatch(run)).toEqual([]);
  await move(run, 't0', 'ended');
  expect(await dispatch(run)).toEqual(['t2']);
  const dispatched = await records.targets.get(run.id, 't2');
  expect(dispatched).not.toHaveProperty('detail');
});

test('a target that waits holds no place', async () => {
  const run = await running(Array(3).fill([client('a')]), { perClient: 1 });
  expect(await dispatch(run)).toEqual(['t0']);
  await move(run, 't0', 'waiting');
  // It is due again, and comes first.
  expect(await dispatch(run)).toEqual(['t0']);
  await move(run, 't0', 'ended');
  expect(await dispatch(run)).toEqual(['t1']);
});

test('a target that is ended while it waits passes its place on', async () => {
  const run = await running(Array(4).fill([client('a')]), { perClient: 1 });
  expect(await dispatch(run)).toEqual(['t0']);
  await move(run, 't0', 'ended');
  // t1 was made due, and is cancelled before it is dispatched.
  await move(run, 't1', 'ended');
  expect(await dispatch(run)).toEqual(['t2']);
});

test('a target with several tags needs a place of each', async () => {
  const run = await running([[tag('x')], [tag('y')], [tag('x'), tag('y')], [tag('x')]], {
    perClient: undefined,
    perTag: 1,
  });
  expect(await dispatch(run)).toEqual(['t0', 't1']);
  await move(run, 't0', 'ended');
  // t2 still waits for y, so t3 takes the place of x.
  expect([...(await dispatch(run)), ...(await dispatch(run))]).toEqual(['t3']);
  await move(run, 't1', 'ended');
  await move(run, 't3', 'ended');
  expect(await dispatch(run)).toEqual(['t2']);
});

/** The same numbers each time. */
function numbersFrom(start: number) {
  let seed = start;
  return (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
}

/** How many of these targets each group has. */
function countsOf(groups: readonly (readonly Group[])[], ids: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids)
    for (const { kind, id: of } of groups[Number(id.slice(1))] ?? [])
      counts.set(`${kind} ${of}`, (counts.get(`${kind} ${of}`) ?? 0) + 1);
  return counts;
}

test('in any order of events, limits hold, no target is lost, and nothing is left behind', async () => {
  const pick = numbersFrom(7);
  const groups = Array.from({ length: 120 }, () => [
    ...(pick(5) > 0 ? [client(String(pick(4)))] : []),
    ...(pick(2) > 0 ? [tag(String(pick(3))), ...(pick(3) === 0 ? [tag('9')] : [])] : []),
  ]);
  const run = await running(groups, { perClient: 2, perTag: 3, concurrency: 7 });
  const succeeded = async () => (await records.runs.get(run.id))?.counts.succeeded;
  const flying = new Set<string>();
  for (let step = 0; step < 3_000 && (await succeeded()) !== 120; step += 1) {
    for (const id of await dispatch(run, 1 + pick(5))) flying.add(id);
    for (const [key, count] of countsOf(groups, flying))
      expect(count).toBeLessThanOrEqual(key.startsWith('client') ? 2 : 3);
    const [id] = [...flying].slice(pick(flying.size));
    if (id === undefined) continue;
    const isFollowing = (await records.targets.get(run.id, id))?.state === 'following';
    const to = (['ended', 'ended', 'waiting', isFollowing ? 'ended' : 'following'] as const)[pick(4)];
    await move(run, id, to ?? 'ended');
    if (to !== 'following') flying.delete(id);
  }
  expect(await succeeded()).toBe(120);
  const { groups: groupsKey, places, parked } = keysOfRun(run.id);
  expect(await redis.exists(groupsKey, places, parked)).toBe(0);
});
