/**
 * A worker that stands still for longer than others wait for it, as a process of its own, at each step of an
 * effect.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { aPolicy } from '../support/builders.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';

let world: World;
afterEach(() => world.stop());

/** A worker that stops itself (SIGSTOP) at a step of its first sync. */
function frozenAt(step: string) {
  const { caretaker, clock } = world;
  const facts = {
    settings: caretaker.settings,
    clock: { from: clock.from, began: clock.began, speed: clock.speed },
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

test.each(['before-intent', 'after-intent', 'after-answer', 'after-result'])(
  'a worker that is stopped %s, and woken when others have ended its run, sends and writes nothing',
  async (step) => {
    world = await startWorld({ sites: 3, work: false });
    const sites = world.sandbox.siteIds().map((id) => world.sandbox.site(id));
    // They go on until all are followed: of one that had ended, clocks at this speed do not tell whose it
    // was.
    for (const site of sites) site.syncTakes(86_400_000);
    const run = await world.fire(aPolicy());
    const { child, isCut, ended } = frozenAt(step);
    await isCut;
    const working = world.caretaker.engine.work(20);
    const { targets } = world.caretaker.records;
    await until(world, async () => (await targets.inState(run.id, 'following', 3)).length === 3);
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
