/** How many plans a process makes at once, and which come next. */
import { afterEach, expect, test } from 'vitest';
import { Planner } from '../../../src/engine/plan/planner.ts';
import { aGate, around, partsOf } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';

let world: World;
afterEach(() => world.stop());

test('of 25 runs that start at once 20 are planned at a time, and the others directly after them', async () => {
  world = await startWorld({ before: quickSyncs, sites: 20, work: false });
  const { engine, records, link } = world.caretaker;
  const runs = await Promise.all(
    Array.from({ length: 25 }, (_, index) =>
      engine.fire(aPolicy({ name: `policy-${index}` }), {
        trigger: 'manual',
        scheduledFor: world.clock.now(),
      }),
    ),
  );
  const gate = aGate();
  around(link('default').client, 'call', (call) => gate.pass().then(call) as never);
  // Nothing else is at work here: no supervisor queues an entry a second time.
  const planner = new Planner(partsOf(world.caretaker));
  let started = 0;
  for (const { id } of runs) {
    const { result } = await planner.begin({ kind: 'plan', run: id });
    if (result['plan'] === 'started') started += 1;
  }
  gate.open();
  const isPlanned = async () =>
    (await records.runs.many(runs.map(({ id }) => id))).every((run) => run.planComplete);
  while (!(await isPlanned())) await new Promise((resolve) => setImmediate(resolve));
  await planner.stop();
  expect(started).toBe(20);
});
