import { expect, test } from 'vitest';
import { heldClock } from './held-clock.ts';

test('a held clock wakes sleepers in order, each at its own time', async () => {
  const clock = heldClock(0);
  const woken: string[] = [];
  const sleep = async (name: string, ms: number) => {
    await clock.sleep(ms);
    woken.push(`${name} at ${clock.now()}`);
  };
  const late = sleep('late', 20);
  const early = sleep('early', 10);
  void sleep('never', 100);

  await clock.advance(50);
  await Promise.all([late, early]);

  expect(woken).toEqual(['early at 10', 'late at 20']);
  expect(clock.now()).toBe(50);
  expect(clock.sleepers()).toBe(1);
});

test('a sleeper that sleeps again during an advance wakes again within it', async () => {
  const clock = heldClock(0);
  let rounds = 0;
  const loop = (async () => {
    for (; rounds < 5; rounds += 1) await clock.sleep(10);
  })();
  await clock.advance(50);
  await loop;
  expect(rounds).toBe(5);
});

test('a sleep ends at once when its signal aborts', async () => {
  const clock = heldClock(0);
  const waking = new AbortController();
  const sleep = clock.sleep(1000, waking.signal);
  waking.abort();
  await sleep;
  expect(clock.now()).toBe(0);
});
