/** Runs that wait for a time, ended without waiting for it. */
import { isFinal } from '../../src/run/moves.ts';
import type { Run } from '../../src/run/run.ts';
import { until, type World } from './caretaker.ts';

const LEAP_MS = 10_000;

/** The run once it has ended. Whenever everything that is open of it waits for a time, the clock leaps. */
export async function endedByLeaps(world: World, { id }: Run): Promise<Run> {
  await until(world, async () => {
    const open = (await world.targets(id)).filter(({ state }) => state !== 'ended');
    if (open.length > 0 && open.every(({ state }) => state === 'waiting')) world.clock.leap(LEAP_MS);
    const run = await world.caretaker.records.runs.get(id);
    return run !== undefined && isFinal(run.status);
  });
  return world.ended(id);
}
