/** Receivers that do not answer: those of others get their messages meanwhile. */
import { expect, test } from 'vitest';
import { CONCURRENCY_OF_RECEIVER } from '../../src/notify/notifier.ts';
import { deliver } from '../support/deliveries.ts';
import { startReceiver } from './receiver.ts';
import { aWorld, NOON, webhooks } from './world.ts';

type World = Awaited<ReturnType<typeof aWorld>>;

/** Deliveries to a receiver that are due, made before noon. */
async function made({ records }: World, to: string, count: number, at: number): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) {
    const message = { text: `${to} ${nth}` };
    await deliver(records, { id: `msg_${to}-${at}-${nth}`, to, event: 'run.failed', at: at + nth, message });
  }
}

test('a receiver that does not answer holds some slots only: messages to others arrive, also later ones', async () => {
  const [slow, ops] = [await startReceiver(() => undefined), await startReceiver(204)];
  const world = await aWorld(webhooks({ slow, ops }));
  const { clock, queues, records } = world;
  await made(world, 'slow', 60, NOON - 60_000);
  await made(world, 'ops', 10, NOON - 30_000);

  const working = world.notifier.work();
  await Promise.all([ops.untilReceived(10), slow.untilReceived(CONCURRENCY_OF_RECEIVER)]);
  for (let later = 1; later <= 3; later += 1) {
    await made(world, 'ops', 10, clock.now() - 1_000);
    await clock.advance(1_000);
    await ops.untilReceived(10 + 10 * later);
  }

  expect(slow.received).toHaveLength(CONCURRENCY_OF_RECEIVER);
  // What waits for the slow one does not go through the queue again and again.
  const [queue] = queues.boards().filter(({ name }) => name === 'deliveries');
  expect(await queue?.getCompletedCount()).toBeLessThan(40 + 60);
  await slow.close();
  await working.stop();
  expect((await records.deliveries.open()).get('slow')).toMatchObject({ pending: 60, dead: 0 });
  expect((await records.deliveries.open()).has('ops')).toBe(false);
});

test('a receiver with many messages gets all of them', async () => {
  const ops = await startReceiver(204);
  const world = await aWorld(webhooks({ ops }));
  await made(world, 'ops', 70, NOON - 60_000);
  const working = world.notifier.work();

  await ops.untilReceived(50);
  await world.clock.advance(1_000);
  await ops.untilReceived(70);
  await working.stop();

  expect(new Set(ops.received.map(({ headers }) => headers['webhook-id'])).size).toBe(70);
  expect(ops.received).toHaveLength(70);
});
