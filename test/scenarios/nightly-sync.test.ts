import { afterEach, expect, test } from 'vitest';
import { aPolicy, startWorld, type World } from '../support/caretaker.ts';

let world: World;
afterEach(() => world.stop());

test('a night over sixty sites ends with an outcome for each, and every sync was asked for once', async () => {
  world = await startWorld({ sites: 60 });
  const run = await world.ended(await world.fire(aPolicy()));
  const reasons = await world.reasons(run);
  console.log(run, reasons, world.sandbox.journal.effects.length, world.sandbox.journal.requests.length);
  expect(Object.keys(reasons)).toHaveLength(60);
});
