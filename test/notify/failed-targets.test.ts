/** A message about failures names the targets, whole: real Redis, the sandbox and a receiver. */
import { expect, onTestFinished, test } from 'vitest';
import { aPolicy } from '../support/builders.ts';
import { startWorld } from '../support/caretaker.ts';
import { healthySites } from '../support/quick-syncs.ts';
import { startReceiver } from './receiver.ts';
import { letterOf, webhooks } from './world.ts';

test('a message about failures names the first ten targets with their reasons', async () => {
  const ops = await startReceiver(204);
  const world = await startWorld({ sites: 14, speedUp: 240, before: healthySites });
  onTestFinished(() => world.stop());
  const { caretaker, sandbox } = world;
  for (const id of sandbox.siteIds()) sandbox.site(id).failNextSync('The site did not answer.');
  caretaker.take({ notifications: webhooks({ ops }) });
  const run = await world.ended(
    await world.fire(aPolicy({ notify: [{ on: ['failed', 'partial'], to: 'ops' }] })),
  );
  await caretaker.notifier.deliverDue();

  expect(run.counts.failed).toBeGreaterThan(10);
  const { data } = letterOf(ops) as unknown as {
    data: { text: string; failed_targets: { reason: string }[] };
  };
  const lines = data.text.split('\n');
  expect(lines).toHaveLength(12);
  expect(lines[1]).toMatch(/^\S+: [a-z-]+: .+/);
  expect(lines.at(-1)).toBe(`... and ${run.counts.failed - 10} more failed targets.`);
  expect(data.failed_targets).toHaveLength(10);
});
