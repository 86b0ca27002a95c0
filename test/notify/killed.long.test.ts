/** A process that is killed (SIGKILL) while a receiver has its message: the next one sends it again, with the same id. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { startWorld, until } from '../support/caretaker.ts';
import { startReceiver } from './receiver.ts';
import { activeRun, endRun, telling, webhooks } from './world.ts';

test('the message of a killed process arrives once more, with its id, and never again', async () => {
  const ops = await startReceiver(() => undefined, 204);
  const world = await startWorld({ sites: 1, work: false });
  const children: ChildProcess[] = [];
  onTestFinished(async () => {
    for (const child of children) child.kill('SIGKILL');
    await world.stop();
  });
  const { caretaker, clock } = world;
  const facts = {
    settings: { ...caretaker.settings, notifications: webhooks({ ops }) },
    clock: clock.shared(),
  };
  const start = () => {
    const file = fileURLToPath(new URL('./notifying.mjs', import.meta.url));
    const child = spawn(process.execPath, [file, JSON.stringify(facts)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    children.push(child);
    return child;
  };
  await endRun(caretaker, await activeRun(caretaker, telling({ on: ['failed'], to: 'ops' })), 'failed');

  const dying = start();
  await ops.untilReceived(1);
  dying.kill('SIGKILL');
  await once(dying, 'exit');
  start();
  await ops.untilReceived(2);
  const delivered = async () =>
    (await caretaker.records.deliveries.list({ limit: 10 })).map(({ state }) => state).join() === 'delivered';
  await until(world, delivered);

  const ids = ops.received.map(({ headers }) => headers['webhook-id']);
  expect(ids).toHaveLength(2);
  expect(new Set(ids).size).toBe(1);
  const [delivery] = await caretaker.records.deliveries.list({ limit: 10 });
  expect(delivery?.attempts.map(({ is }) => is)).toEqual([undefined, 'delivered']);
});
