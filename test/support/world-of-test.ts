import { onTestFinished } from 'vitest';
import { startWorld, type World } from './caretaker.ts';

/** A world that is stopped when the test has ended. */
export async function worldOfTest(options?: Parameters<typeof startWorld>[0]): Promise<World> {
  const world = await startWorld(options);
  onTestFinished(world.stop);
  return world;
}
