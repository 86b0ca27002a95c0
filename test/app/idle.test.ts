import type { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openCaretaker } from '../../src/app/caretaker.ts';
import { startDaemon } from '../../src/app/daemon.ts';
import { folderWith } from '../settings/folder.ts';
import { heldClock } from '../support/held-clock.ts';
import { keptLog } from '../support/quiet.ts';
import { worldOfTest } from '../support/world-of-test.ts';

const MINUTE = 60_000;
const STEP = 500;

// Only the whole daemon shows which loops run in it. It takes more than a second because each of 120 steps awaits Redis.
test('a daemon with nothing to do wakes up and asks Redis a few times in five seconds', async () => {
  const policies = Array.from({ length: 10 }, (_, index) => `  - { name: p${index}, job: site-sync }\n`);
  const policiesDir = folderWith({ 'ten.yaml': `policies:\n${policies.join('')}` });
  const world = await worldOfTest({ sites: 1, work: false, policiesDir });
  const held = heldClock();
  let sleeps = 0;
  const clock = {
    now: held.now,
    sleep(ms: number, signal?: AbortSignal) {
      if (ms > 0) sleeps += 1;
      return held.sleep(ms, signal);
    },
  };
  const caretaker = await openCaretaker({ settings: world.caretaker.settings, log: keptLog(), clock });
  onTestFinished(() => caretaker.close());
  const daemon = await startDaemon({ caretaker, roles: ['scheduler', 'worker', 'dashboard'] });
  onTestFinished(() => daemon.stop());
  // Supervisor, recorder, notifier, policies, Redis, records, and what is repeated for all of them.
  const loops = 7;
  const allSleep = () =>
    vi.waitFor(() => expect(held.sleepers()).toBe(loops), { timeout: 20_000, interval: 2 });
  await allSleep();
  const sent = vi.spyOn(caretaker.redis.store as Redis, 'sendCommand');
  sleeps = 0;

  for (let ms = 0; ms < MINUTE; ms += STEP) {
    await held.advance(STEP);
    await allSleep();
  }

  // Six of the loops every five seconds, and once a second what writes the number of the records to disk.
  expect(sleeps).toBeLessThanOrEqual(6 * 13 + 60);
  const count = (name: string) => sent.mock.calls.filter(([command]) => command.name === name).length;
  // The accounts with active runs, and those with something in the outbox.
  expect(count('smembers')).toBeLessThanOrEqual(2 * 13);
  // The notices.
  expect(count('zrange')).toBeLessThanOrEqual(13);
});
