import { afterEach, expect, test } from 'vitest';
import { maintainRun } from '../../../src/engine/supervise/maintain-run.ts';
import { partsOf } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';
import { untilFollowed } from '../person.ts';

let world: World;
afterEach(() => world.stop());

test('a process logs once that it took over a run of another process, and does not log it for its own runs', async () => {
  world = await startWorld({ before: quickSyncs, sites: 3, speedUp: 10, work: false });
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).syncTakes(3_600_000);
  const before = world.caretaker.engine.work(50);
  const fired = await world.fire(aPolicy());
  await untilFollowed(world, fired, 3);
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
  ['for six minutes, and whose job is known here, goes on waiting', 'site-sync', true, { status: 'queued' }],
  [
    'for six minutes, and whose job nobody knows any more, fails and says so',
    'gone',
    true,
    { status: 'failed', detail: 'There is no job "gone" any more.' },
  ],
  [
    'and is old, but whose wait this process sees for the first time, is left to others that may know its job',
    'gone',
    false,
    { status: 'queued' },
  ],
])('a run that has not been planned %s', async (_, job, isSeen, expected) => {
  world = await startWorld({ before: quickSyncs, sites: 1, work: false });
  const { caretaker, clock } = world;
  const fired = await world.fire(aPolicy({ job }));
  const run = { ...fired, createdAt: fired.createdAt - 3_600_000 };
  const seen = { firstAt: clock.now() - 360_000, lastAt: clock.now() };
  const replans = new Map(isSeen ? [[run.id, seen]] : []);
  const state = { replans } as unknown as Parameters<typeof maintainRun>[3];

  await maintainRun(partsOf(caretaker), run, [run], state);

  expect(await caretaker.records.runs.get(run.id)).toMatchObject(expected);
});
