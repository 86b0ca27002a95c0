/**
 * A worker in a process of its own, suspended at each step of an effect for longer than the time after which
 * others take over its work.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { aPolicy } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import { quickSyncs } from '../support/quick-syncs.ts';
import { untilFollowed } from './person.ts';

let world: World;
afterEach(() => world.stop());

/** A worker that suspends itself (SIGSTOP) at a step of its first sync. */
function frozenAt(step: string) {
  const { caretaker, clock } = world;
  const facts = {
    settings: caretaker.settings,
    clock: clock.shared(),
    cut: { step, operation: 'syncSite', signal: 'SIGSTOP' },
  };
  const file = fileURLToPath(new URL('../support/dying.mjs', import.meta.url));
  const child = spawn(process.execPath, [file, JSON.stringify(facts)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const isCut = new Promise<void>((resolve) => {
    child.stdout.on('data', (text) => String(text).includes('cut') && resolve());
  });
  return { child, isCut, ended: once(child, 'exit') };
}

const steps = ['after-intent', 'before-intent', 'after-answer', 'after-result'];

test.each(steps)(
  'a worker that is suspended %s, and resumed after others ended its run, sends and writes nothing',
  async (step) => {
    world = await startWorld({ before: quickSyncs, sites: 3, work: false });
    const sites = world.sandbox.siteIds().map((id) => world.sandbox.site(id));
    // The syncs run until all are followed. If one had ended, the service's clock at this speed would not
    // show which run started it.
    for (const site of sites) site.syncTakes(86_400_000);
    const run = await world.fire(aPolicy());
    const { child, isCut, ended } = frozenAt(step);
    await isCut;
    const working = world.caretaker.engine.work(20);
    await untilFollowed(world, run, 3);
    for (const site of sites) site.finishSync();

    const end = await world.ended(run);
    const before = { targets: await world.targets(run), effects: [...world.sandbox.journal.effects] };
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    const [code] = await ended;
    await working.stop();

    expect(code, 'it ended what it was at when it was stopped').toBe(0);
    expect(end).toMatchObject({ status: 'succeeded', counts: { succeeded: 3 } });
    expect(await world.targets(run)).toEqual(before.targets);
    expect(world.sandbox.journal.effects).toEqual(before.effects);
    expect(new Set(world.sandbox.journal.effectsOf('syncSite')).size).toBe(3);
    expect(world.sandbox.journal.effectsOf('syncSite')).toHaveLength(3);
  },
);
