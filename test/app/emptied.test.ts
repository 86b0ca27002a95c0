/** A Redis that is emptied at any point of a run: the next run is not affected. */
import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { around } from '../support/between.ts';
import { quickSyncs } from '../support/quick-syncs.ts';
import { sampleOf } from '../support/sample.ts';
import { worldOfTest } from '../support/world-of-test.ts';
import { notesOf } from './notes.ts';

/** At how many points of a run, evenly spaced by commands, Redis is emptied. */
const POINTS = sampleOf(5, 24);
test('wherever Redis is emptied in a run, the next one succeeds, and no key of the lost one comes back', async () => {
  const world = await worldOfTest({ before: quickSyncs, sites: 6 });
  const { caretaker, sandbox, log } = world;
  const { store } = caretaker.redis;
  let sent = 0;
  let emptyAt = Number.POSITIVE_INFINITY;
  let onEmptied = () => {};
  // On the connection of the work, so that exactly the commands before this one have taken effect.
  around(store as Redis, 'sendCommand', (send) => {
    sent += 1;
    if (sent === emptyAt) void store.flushall().then(() => onEmptied());
    return send();
  });
  const whole = await world.fire(notesOf('whole', 'whole', 2));
  await world.ended(whole);
  const commands = sent;

  for (let point = 0; point < POINTS; point += 1) {
    const lost = await world.fire(notesOf(`lost-${point}`, `lost-${point}`, 2));
    const emptied = new Promise<void>((resolve) => {
      onEmptied = resolve;
    });
    emptyAt = sent + 1 + Math.floor((point * commands) / POINTS);
    await emptied;
    const next = await world.fire(notesOf(`next-${point}`, `next-${point}`, 2));
    expect(await world.ended(next), `point ${point}`).toMatchObject({
      status: 'succeeded',
      counts: { planned: 6, succeeded: 6 },
    });
    expect(await store.keys(`{caretaker}:run:${lost.id}*`), `point ${point}`).toEqual([]);
  }

  for (const id of sandbox.siteIds()) {
    const contents = sandbox.site(id).notes();
    expect(new Set(contents).size).toBe(contents.length);
  }
  expect(log.lines.filter((line) => line.includes('Redis was restored'))).toEqual([]);
});
