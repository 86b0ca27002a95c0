import { afterEach, expect, test } from 'vitest';
import { maintainRun } from '../../../src/engine/supervise/maintain-run.ts';
import { partsOf } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, until, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';

let world: World;
afterEach(() => world.stop());

test('a process logs once that it took over a run of another process, and does not log it for its own runs', async () => {
  world = await startWorld({ before: quickSyncs, sites: 3, speedUp: 10, work: false });
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).syncTakes(3_600_000);
  const before = world.caretaker.engine.work(50);
  const fired = await world.fire(aPolicy());
  const { targets } = world.caretaker.records;
  await until(world, async () => (await targets.inState(fired.id, 'following', 10)).length === 3);
  await before.stop();
  const takenOver = () => world.log.lines.filter((line) => JSON.stringify(line).includes('took over a run'));
  expect(takenOver()).toEqual([]);

  const after = world.caretaker.engine.work(50);
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).finishSync();
  await world.ended(fired);
  await after.stop();

  expect(takenOver()).toHaveLength(1);
  expect(JSON.stringify(takenOver())).toContain(fired.id);
});

test.each([
  ['whose job is known here goes on waiting', 'site-sync', { status: 'queued' }],
  [
    'whose job nobody knows any more fails, and says so',
    'gone',
    { status: 'failed', detail: 'There is no job "gone" any more.' },
  ],
])('a run that has not been planned for six minutes, and %s', async (_, job, expected) => {
  world = await startWorld({ before: quickSyncs, sites: 3, work: false });
  const { caretaker, clock } = world;
  const run = await world.fire(aPolicy({ job }));
  const seen = { firstAt: clock.now() - 360_000, lastAt: clock.now() };
  const state = { replans: new Map([[run.id, seen]]) } as unknown as Parameters<typeof maintainRun>[3];

  await maintainRun(partsOf(caretaker), run, [run], state);

  expect(await caretaker.records.runs.get(run.id)).toMatchObject(expected);
});
