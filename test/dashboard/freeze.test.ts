import { afterEach, beforeEach, expect, test } from 'vitest';
import { aPolicy } from '../support/builders.ts';
import { startWorld, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld({ policies: () => [aPolicy()] });
});
afterEach(() => world.stop());

test('every page shows a freeze with its author, its end and its reason', async () => {
  const now = Date.now();
  const ask = await world.signedIn();
  await world.records.freeze.begin({ at: now, by: 'anna', reason: 'the <big> sale', until: now + 3_600_000 });

  for (const path of ['/', '/runs', '/system', '/policies/nightly-sync']) {
    const page = await (await ask(path)).text();
    expect(page).toMatch(
      /Everything is frozen by anna until <time datetime="[^"]+Z">\S+ \S+ UTC<\/time> \(the &lt;big&gt; sale\): no run starts\./,
    );
  }

  await world.records.freeze.end(now);
  expect(await (await ask('/')).text()).not.toContain('frozen');
});
