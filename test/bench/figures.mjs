/**
 * The figures, each with what is to be reached. `measure` takes one sample; the table shows the median of all. docs/performance.md
 * explains each.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Queue, Worker } from 'bullmq';
import { request } from 'undici';
import { byScript } from './by-script.mjs';
import { onStage, policy, runToEnd, sleep } from './stage.mjs';

const RATE = { rateLimit: 200, windowMs: 5_000 };
const perMs = RATE.rateLimit / RATE.windowMs;
const sum = (counts) => Object.values(counts).reduce((total, count) => total + count, 0);
const bin = fileURLToPath(new URL('../../src/cli/bin.mjs', import.meta.url));

/** A night over 1,000 sites at the service's pace, by four processes. */
async function night() {
  return onStage({ sites: 1_000, ...RATE, workers: 4 }, async (stage) => {
    const { run, ms } = await runToEnd(stage);
    const { requests, limited } = await stage.service.ask({ ask: 'state' });
    const tried = run.counts.planned - run.counts.skipped;
    const sent = sum(requests);
    // The last sync that the limit lets begin takes as long as any.
    const leastMs = sent / perMs + 30_000;
    return {
      'requests per target': sent / tried,
      'wall time over its lower bound': ms / leastMs,
      '429s caused by us': limited,
    };
  });
}

/** Four processes that have more to do than the limit allows, for six windows. */
async function saturation() {
  return onStage({ sites: 3_000, ...RATE, workers: 4 }, async (stage) => {
    await stage.caretaker.engine.fire(policy(), { trigger: 'manual', scheduledFor: Date.now() });
    await sleep(2 * RATE.windowMs);
    const before = await stage.service.ask({ ask: 'state' });
    const begun = performance.now();
    await sleep(6 * RATE.windowMs);
    const after = await stage.service.ask({ ask: 'state' });
    const could = (performance.now() - begun) * perMs;
    return {
      'share of the budget used at saturation': (sum(after.requests) - sum(before.requests)) / could,
      '429s at saturation': after.limited - before.limited,
    };
  });
}

/** Targets a second without a limit, over bare BullMQ jobs that make the same call. */
async function throughput() {
  const targets = 3_000;
  return onStage({ sites: targets, taskMs: 1_000 }, async (stage) => {
    const { run, ms } = await runToEnd(stage, { concurrency: 1_000 });
    const ours = run.counts.planned / ms;
    const { url, token } = stage.service.said;
    const connection = { path: stage.settings.redis.url };
    const queue = new Queue('bare', { connection });
    let done = 0;
    let finish;
    const finished = new Promise((resolve) => {
      finish = resolve;
    });
    const worker = new Worker(
      'bare',
      async ({ data }) => {
        const { body } = await request(`${url}/sites/${data.id}/sync`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: '{}',
        });
        await body.dump();
        done += 1;
        if (done === targets) finish();
      },
      { connection, concurrency: 50, autorun: false },
    );
    await queue.addBulk(
      Array.from({ length: targets }, (_, i) => ({
        name: 'sync',
        data: { id: `site-${String(i + 1).padStart(4, '0')}` },
        opts: { removeOnComplete: true, removeOnFail: true },
      })),
    );
    const begun = performance.now();
    void worker.run();
    await finished;
    const bare = targets / (performance.now() - begun);
    await worker.close();
    await queue.close();
    return { 'targets per second over bare BullMQ': ours / bare, 'targets per second': ours * 1_000 };
  });
}

/** What 10,000 targets cost a worker in memory, over the same worker before. */
async function memory() {
  return onStage({ sites: 10_000, taskMs: 1_000 }, async (stage) => {
    const [worker] = stage.workers;
    await sleep(2_000);
    const { rss: idle } = await worker.ask();
    let most = idle;
    await runToEnd(stage, { concurrency: 1_000 }, async () => {
      await sleep(400);
      most = Math.max(most, (await worker.ask()).rss);
    });
    return { 'extra memory of 10,000 targets (MB)': (most - idle) / 2 ** 20 };
  });
}

/** A plan of 10,000 sites, as a person asks for it. */
async function planning() {
  return onStage({ sites: 10_000, workers: 0 }, async ({ caretaker, service }) => {
    const before = sum((await service.ask({ ask: 'state' })).requests);
    const { user, system } = process.cpuUsage();
    const preview = await caretaker.engine.preview({
      ...policy(),
      limits: { ...policy().limits, maxPercent: 99 },
    });
    const used = process.cpuUsage();
    const requests = sum((await service.ask({ ask: 'state' })).requests) - before;
    if (preview.targets.length === 0) throw new Error('The plan is empty.');
    return {
      'plan of 10,000 sites (requests)': requests,
      'plan of 10,000 sites (s of CPU)': (used.user - user + used.system - system) / 1e6,
    };
  });
}

/** How long a person waits for one request while 5,000 targets use the budget up. */
async function person() {
  return onStage({ sites: 5_000, ...RATE, workers: 2 }, async ({ caretaker }) => {
    await caretaker.engine.fire(policy(), { trigger: 'manual', scheduledFor: Date.now() });
    await sleep(2 * RATE.windowMs);
    const { client } = caretaker.link('default');
    const waits = [];
    for (let i = 0; i < 25; i += 1) {
      const begun = performance.now();
      await client.call('listTags', { perPage: 1 }, { priority: 'person' });
      waits.push((performance.now() - begun) / 1_000);
      // Never in step with the windows.
      await sleep(700 + 37 * i);
    }
    waits.sort((a, b) => a - b);
    return { "a person's request at saturation (s)": waits[12], 'the slowest of 25 (s)': waits[24] };
  });
}

/** The same night by a script that anybody would write. */
async function script() {
  return onStage({ sites: 1_000, ...RATE, workers: 0 }, async ({ service }) => {
    const { synced, ms } = await byScript(service.said);
    const { requests, limited } = await service.ask({ ask: 'state' });
    return {
      'a plain script: requests per target': sum(requests) / synced,
      'a plain script: wall time (s)': ms / 1_000,
      'a plain script: 429s': limited,
    };
  });
}

/** How long `caretaker --help` takes, over Node doing nothing; and a daemon until it is ready. */
async function start() {
  const time = (args) => {
    const begun = performance.now();
    spawnSync(process.execPath, args, { stdio: 'ignore' });
    return performance.now() - begun;
  };
  const nothing = time(['-e', '0']);
  const help = time([bin, '--help']);
  const dataDir = await mkdtemp(join(tmpdir(), 'caretaker-bench-'));
  const ready = await onStage({ sites: 1, workers: 0 }, async ({ service }) => {
    const begun = performance.now();
    const daemon = spawn(process.execPath, [bin, 'daemon', '--port', '0'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        REDIS_URL: '',
        CARETAKER_DATA_DIR: dataDir,
        CARETAKER_BASE_URL: service.said.url,
        CARETAKER_API_TOKEN: service.said.token,
      },
    });
    let said = '';
    await new Promise((resolve, reject) => {
      const hear = (text) => {
        said += text;
        if (/ready|dashboard/i.test(said)) resolve();
      };
      daemon.stdout.on('data', hear);
      daemon.stderr.on('data', hear);
      daemon.on('exit', () => reject(new Error(`The daemon ended: ${said}`)));
    });
    const ms = performance.now() - begun;
    daemon.removeAllListeners('exit');
    daemon.kill('SIGTERM');
    await once(daemon, 'exit');
    return ms;
  });
  await rm(dataDir, { recursive: true, force: true });
  return { 'caretaker --help over node -e 0': help / nothing, 'daemon ready (s)': ready / 1_000 };
}

export const figures = [
  { name: 'night', measure: night },
  { name: 'saturation', measure: saturation },
  { name: 'throughput', measure: throughput },
  { name: 'memory', measure: memory },
  { name: 'planning', measure: planning },
  { name: 'person', measure: person },
  { name: 'script', measure: script },
  { name: 'start', measure: start },
];

/** What is to be reached; figures without a line here are shown for comparison. */
export const toReach = {
  'requests per target': { most: 1.1 },
  'wall time over its lower bound': { most: 1.03 },
  '429s caused by us': { most: 0 },
  'share of the budget used at saturation': { least: 0.98 },
  '429s at saturation': { most: 0 },
  'targets per second over bare BullMQ': { least: 0.7 },
  'extra memory of 10,000 targets (MB)': { most: 60 },
  'plan of 10,000 sites (requests)': { most: 101 },
  'plan of 10,000 sites (s of CPU)': { most: 1.5 },
  "a person's request at saturation (s)": { most: 1 },
  'caretaker --help over node -e 0': { most: 3 },
  'daemon ready (s)': { most: 1 },
};
