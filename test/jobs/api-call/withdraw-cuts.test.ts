/** A withdrawal, interrupted at each of its steps by a worker that dies there (SIGKILL), is made once. */
import { afterEach, expect, test } from 'vitest';
import { startWorld, type World } from '../../support/caretaker.ts';
import { dieAt, endDying, steps } from '../../support/dying.ts';
import { deletionAfter } from '../../support/old-copies.ts';

let world: World;
afterEach(async () => {
  endDying();
  await world.stop();
});

const deletion = (where?: string) => deletionAfter('3d', where);

test.each(['deleteSiteNote', 'updateSiteNote'] as const)(
  'the announcements of targets that are no longer selected are withdrawn once (%s)',
  async (operation) => {
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
    for (const step of steps) await dieAt(world, step, operation);
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
  },
  240_000,
);
