import { expect, test } from 'vitest';
import { HashGate } from '../../../src/dashboard/auth/authenticator.ts';

test('two checks run at the same time, others wait for their turn, and too many are refused at once', async () => {
  const gate = new HashGate();
  const ends: (() => void)[] = [];
  let mostRunning = 0;
  let running = 0;
  const check = async () => {
    running += 1;
    mostRunning = Math.max(mostRunning, running);
    await new Promise<void>((end) => ends.push(end));
    running -= 1;
    return 'checked';
  };

  const all = Array.from({ length: 40 }, () => gate.run(check));
  while (running > 0) {
    ends.shift()?.();
    await new Promise(setImmediate);
  }

  const results = await Promise.all(all);
  expect(mostRunning).toBe(2);
  expect(results.filter((result) => result === 'checked')).toHaveLength(18);
  expect(results.filter((result) => result === 'busy')).toHaveLength(22);
});

test('a check that fails gives its place to the next one', async () => {
  const gate = new HashGate();
  const failing = Array.from({ length: 5 }, () => gate.run(() => Promise.reject(new Error('no'))));
  await Promise.allSettled(failing);

  expect(await gate.run(async () => 'checked')).toBe('checked');
});
