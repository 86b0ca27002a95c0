/**
 * A worker of BullMQ jobs without Caretaker, which reports when all are done. Facts: url, token, redis, targets,
 * body, by.
 *
 * By `call`, a job makes its call and nothing else. By `steps`, it does what BullMQ recommends for a job of several
 * steps: it stores its step before and after the call, so that after a crash it is known whether the call may have
 * been sent. By `sync`, it also starts a sync instead of making a note, and is delayed while the sync runs, with one
 * poll each time.
 */
import { DelayedError, Worker } from 'bullmq';
import { Pool } from 'undici';

const POLL_MS = 100;
const { url, token, redis, targets, body, by } = JSON.parse(process.argv[2]);
const { origin, pathname } = new URL(url);
const pool = new Pool(origin, { connections: 512 });

async function send(method, path, json) {
  const answer = await pool.request({
    path: `${pathname}${path}`,
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(json && { body: JSON.stringify(json) }),
  });
  return answer.statusCode === 200 || answer.statusCode === 201
    ? answer.body.json()
    : Promise.reject(new Error(`HTTP ${answer.statusCode}`));
}

const handlers = {
  call: ({ data }) => send('POST', `/sites/${data.id}/notes`, body),
  async steps(job) {
    const { id } = job.data;
    await job.updateData({ id, step: 'calling', at: Date.now() });
    const answer = await send('POST', `/sites/${id}/notes`, body);
    await job.updateData({ id, step: 'called', note: answer.note?.id ?? answer.id });
  },
  async sync(job, lock) {
    const { id, step } = job.data;
    if (step === undefined) {
      await job.updateData({ id, step: 'calling', at: Date.now() });
      // Refused syncs are counted by the service: see `throughput`.
      const started = await send('POST', `/sites/${id}/sync`).then(
        () => true,
        () => false,
      );
      await job.updateData({ id, step: 'called' });
      if (!started) return;
    } else {
      const { site } = await send('GET', `/sites/${id}`);
      if (!site.sync.in_progress) return;
    }
    await job.moveToDelayed(Date.now() + POLL_MS, lock);
    throw new DelayedError();
  },
};

let done = 0;
const worker = new Worker('bare', handlers[by], {
  connection: { path: redis },
  concurrency: 50,
  autorun: false,
});
worker.on('completed', () => {
  done += 1;
  if (done === targets) process.send('done');
});
worker.on('failed', (_job, error) => {
  process.stderr.write(`a job failed: ${error.message}\n`);
  process.exit(1);
});
process.on('message', () => void worker.run());
process.send('ready');
