import { expect, test } from 'vitest';
import { startReceiver } from '../notify/receiver.ts';
import { aPolicy } from '../support/builders.ts';
import { quickSyncs } from '../support/quick-syncs.ts';
import { worldOfTest } from '../support/world-of-test.ts';

test('a receiver that is added to the configuration while the daemon is running is notified of the next run', async () => {
  const receiver = await startReceiver(204);
  const world = await worldOfTest({ before: quickSyncs, sites: 2, notify: true });
  const { caretaker } = world;
  const ops = { name: 'ops', webhook: { url: receiver.url }, group_wait: 0 };
  caretaker.take({ notifications: { ops }, calendars: {}, retention: { runsMs: 1_000 } });

  const run = await world.fire(aPolicy({ notify: [{ on: ['succeeded', 'partial', 'failed'], to: 'ops' }] }));
  await world.ended(run);
  await receiver.untilReceived(1);

  expect(receiver.received[0]?.body).toContain(run.id);
  expect(caretaker.settings.retention.runsMs).toBe(1_000);
});
