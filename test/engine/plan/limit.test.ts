/** `select.limit`: what it counts, and that a plan says it. */
import { afterEach, expect, test } from 'vitest';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';

let world: World;
afterEach(() => world.stop());

test('a plan says that what needs no request does not count for select.limit', async () => {
  world = await startWorld({ sites: 6 });
  const ids = world.sandbox.siteIds();
  for (const id of ids) world.sandbox.site(id).lock(false);
  const first = (await world.caretaker.engine.preview(aPolicy())).targets.slice(0, 2);
  for (const { id } of first) world.sandbox.site(id).lock(true);
  const preview = (limit: number) =>
    world.caretaker.engine.preview(aPolicy({ select: { filters: {}, limit } }));

  const { targets, ended, warnings } = await preview(2);
  expect([targets.length, ended.length]).toEqual([2, 2]);
  expect(warnings).toEqual([
    'select.limit: the run works on 2 targets. It also records 2 that came before the last of them and need no request; these do not count. Candidates after them are not looked at.',
  ]);
  expect((await preview(100)).warnings).toEqual([]);
});
