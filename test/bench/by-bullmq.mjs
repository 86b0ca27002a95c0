/**
 * BullMQ jobs without Caretaker, for comparison with the engine: same Redis, same number of slots,
 * same kind of process.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Queue } from 'bullmq';

/** Returns the jobs done per millisecond. See `bare-worker.mjs` for `by`. */
export async function byBullmq({ url, token, redis, targets, body, by }) {
  const connection = { path: redis };
  const queue = new Queue('bare', { connection });
  await queue.addBulk(
    Array.from({ length: targets }, (_, i) => ({
      name: 'call',
      data: { id: `site-${String(i + 1).padStart(4, '0')}` },
      opts: { removeOnComplete: true, removeOnFail: true },
    })),
  );
  const worker = fork(
    fileURLToPath(new URL('bare-worker.mjs', import.meta.url)),
    [JSON.stringify({ url, token, redis, targets, body, by })],
    { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  );
  await once(worker, 'message');
  const begun = performance.now();
  worker.send('begin');
  await Promise.race([once(worker, 'message'), once(worker, 'exit').then(failed)]);
  const perMs = targets / (performance.now() - begun);
  const ended = once(worker, 'exit');
  worker.kill('SIGKILL');
  await ended;
  await queue.close();
  return perMs;
}

const failed = () => {
  throw new Error('The worker of the bare jobs ended.');
};
