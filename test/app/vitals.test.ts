import { expect, test } from 'vitest';
import { openVitals } from '../../src/app/vitals.ts';
import { heldClock } from '../support/held-clock.ts';

test('the lag of the event loop is how late one timer a second was in the last minute', async () => {
  const held = heldClock();
  const slept: number[] = [];
  let late = 0;
  const vitals = openVitals({
    now: held.now,
    sleep(ms, signal) {
      slept.push(ms);
      return held.sleep(ms + late, signal);
    },
  });
  expect(vitals.read()).toMatchObject({ lagMs: 0, maxLagMs: 0 });

  await held.advance(50_000);
  late = 300;
  await held.advance(1_000);
  late = 20;
  await held.advance(1_300);
  await held.advance(8_000);

  expect(vitals.read()).toMatchObject({ lagMs: 20, maxLagMs: 300 });
  expect(slept).toHaveLength(60);
  expect(new Set(slept)).toEqual(new Set([1_000]));

  late = 0;
  await held.advance(70_000);
  expect(vitals.read()).toMatchObject({ lagMs: 0, maxLagMs: 0 });
  vitals.close();
});
