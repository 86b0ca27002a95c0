/**
 * A daemon in a process of its own, killed between the end of a run and the start of the next. `chained.test.ts` shows
 * in one process that this holds for each step; only this shows that SIGKILL and two competing processes change nothing.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { aPolicy, aSchedule } from '../support/builders.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';
import { quickSyncs } from '../support/quick-syncs.ts';

let world: World;
const children = new Set<ChildProcess>();
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
  await world.stop();
});

const sync = aPolicy({ name: 'sync', hash: 'sync', options: { mode: 'all' } });
const report = aPolicy({
  name: 'report',
  hash: 'report',
  options: { mode: 'all' },
  schedule: aSchedule({
    cron: [],
    after: { policy: 'sync', status: ['succeeded'], withinMs: 3_600_000 },
  }),
});

/** A daemon. Resolves when it is running; `died` resolves when it has killed itself. */
async function start(cut?: string): Promise<{ died: Promise<unknown> }> {
  const { caretaker, clock } = world;
  const facts = {
    settings: caretaker.settings,
    clock: { from: clock.from, began: clock.began, speed: clock.speed },
    policies: [sync, report],
    cut,
  };
  const file = fileURLToPath(new URL('./chain-daemon.mjs', import.meta.url));
  const child = spawn(process.execPath, [file, JSON.stringify(facts)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  const died = once(child, 'exit');
  await once(child.stdout, 'data');
  return { died };
}

test.each(['before-create', 'after-create'])(
  'a daemon killed %s leaves exactly one run after the other, which another daemon completes',
  async (cut) => {
    world = await startWorld({ sites: 2, work: false, speedUp: 20, before: quickSyncs });
    const { records } = world.caretaker;
    const { died } = await start(cut);
    await until(world, async () => (await records.policies.state('report')).cursor !== undefined);
    const run = await world.fire(sync);
    await died;
    expect(await records.runs.get(run.id)).toMatchObject({ status: 'succeeded' });
    // Two, so that they compete for the unfinished work of the dead one.
    await Promise.all([start(), start()]);

    await until(world, async () => (await records.runs.list({ policy: 'report', limit: 9 })).length > 0);
    const [next] = await records.runs.list({ policy: 'report', limit: 9 });
    expect(await world.ended(next?.id ?? '')).toMatchObject({
      status: 'succeeded',
      trigger: 'after',
      afterRun: run.id,
      counts: { succeeded: 2 },
    });

    // The end of another run is processed after the first: by then a duplicate run for the first would exist.
    const second = await world.fire(sync);
    await world.ended(second);
    await until(world, async () => (await records.runs.list({ policy: 'report', limit: 9 })).length > 1);
    const runs = await records.runs.list({ policy: 'report', limit: 9 });
    expect(runs.map(({ afterRun }) => afterRun)).toEqual([second.id, run.id]);
    const ledger = await records.ledger.between('report', 0, Number.MAX_SAFE_INTEGER, 9);
    expect(ledger.map(({ is, after }) => [is, after])).toEqual([
      ['ran', run.id],
      ['ran', second.id],
    ]);
    await world.ended(runs[0]?.id ?? '');
  },
);
