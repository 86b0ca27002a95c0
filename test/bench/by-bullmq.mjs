/**
 * Bare BullMQ jobs that make one call each, for comparison with the engine: same Redis, same number of slots,
 * same kind of process.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Queue } from 'bullmq';

/** Returns the jobs done per millisecond. */
export async function byBullmq({ url, token, redis, targets, body }) {
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
    [JSON.stringify({ url, token, redis, targets, body })],
    { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  );
  await once(worker, 'message');
  const begun = performance.now();
  worker.send('begin');
  await once(worker, 'message');
  const perMs = targets / (performance.now() - begun);
  worker.kill('SIGKILL');
  await once(worker, 'exit');
  await queue.close();
  return perMs;
}
