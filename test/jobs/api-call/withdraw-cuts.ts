/** A withdrawal, interrupted at each of its steps by a worker that is lost there, is made once. */
import { expect } from 'vitest';
import { startWorld, type World } from '../../support/caretaker.ts';
import { type dieAt, endDying, steps } from '../../support/dying.ts';
import { deletionAfter } from '../../support/old-copies.ts';

let world: World;
/** Ends the processes and the world of a withdrawal. */
export async function clear(): Promise<void> {
  endDying();
  await world.stop();
}

const deletion = (where?: string) => deletionAfter('3d', where);

export const withdrawals = ['deleteSiteNote', 'updateSiteNote'] as const;

/** Has a worker be lost at each step of a withdrawal by an operation; another one takes over. */
export async function cutAtEachStep(
  operation: (typeof withdrawals)[number],
  lose: typeof dieAt,
): Promise<void> {
  world = await startWorld({ sites: steps.length, work: false });
  const { sandbox, caretaker } = world;
  sandbox.staging.clear();
  for (const site of sandbox.siteIds()) sandbox.staging.make(site, 15);
  const announcing = caretaker.engine.work(20);
  const first = await world.ended(await world.fire(deletion()));
  await announcing.stop();
  expect(first.counts).toMatchObject({ succeeded: steps.length });
  if (operation === 'updateSiteNote')
    for (const site of sandbox.siteIds())
      sandbox
        .site(site)
        .changeNotes((content) => (content.includes('old-copies') ? `Wait.\n${content}` : content));

  const run = await world.fire(deletion('staging.id == "another"'));
  for (const step of steps) await lose(world, step, operation);
  const working = caretaker.engine.work(20);
  await world.ended(run);
  const again = await world.ended(await world.fire(deletion('staging.id == "another"')));
  await working.stop();

  const reasons = Object.values(await world.reasons(run));
  expect(reasons).toEqual(steps.map(() => 'announcement-withdrawn'));
  expect(again.counts).toMatchObject({ planned: 0 });
  const effects = sandbox.journal.effectsOf(operation);
  expect(effects).toHaveLength(steps.length);
  expect(new Set(effects).size, 'no effect happened twice').toBe(steps.length);
  const notes = sandbox.siteIds().flatMap((site) => sandbox.site(site).notes());
  expect(notes.filter((content) => content.includes(' from 20'))).toEqual([]);
}
