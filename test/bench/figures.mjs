/**
 * The figures, each with its goal. `measure` takes one sample; the table shows the median of all.
 * docs/performance.md explains each.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { byBullmq } from './by-bullmq.mjs';
import { byScript } from './by-script.mjs';
import { pages, toReachOfPages } from './pages.mjs';
import { readers, toReachOfReaders } from './readers.mjs';
import { growth, toReachOfGrowth } from './scale.mjs';
import { schedule, toReachOfSchedule } from './schedule.mjs';
import { bin, onStage, policy, runToEnd, sleep, startDaemon } from './stage.mjs';

const RATE = { rateLimit: 200, windowMs: 5_000 };
const perMs = RATE.rateLimit / RATE.windowMs;
const sum = (counts) => Object.values(counts).reduce((total, count) => total + count, 0);

/** A night over 1,000 sites at the service's limit, by four processes. */
async function night() {
  return onStage({ sites: 1_000, ...RATE, workers: 4 }, async (stage) => {
    const { run, ms } = await runToEnd(stage);
    const { requests, limited } = await stage.service.ask({ ask: 'state' });
    const tried = run.counts.planned - run.counts.skipped;
    const sent = sum(requests);
    // The last sync within the limit takes as long as any other.
    const leastMs = sent / perMs + 30_000;
    return {
      'requests per target': sent / tried,
      'wall time over its lower bound': ms / leastMs,
      '429s caused by Caretaker': limited,
    };
  });
}

/**
 * Four processes with more work than the limit allows, for four windows, with requests of a person now and
 * then. The syncs are short, so that the run's concurrency is not the limit.
 */
async function saturation() {
  return onStage({ sites: 5_000, taskMs: 10_000, ...RATE, workers: 4 }, async ({ caretaker, service }) => {
    await caretaker.engine.fire(policy(), { trigger: 'manual', scheduledFor: Date.now() });
    await sleep(2 * RATE.windowMs);
    const { client, budget } = caretaker.link('default');
    // From the middle of a window to the middle of another: at the edge of a window a whole burst would count
    // or not.
    const { resetsAt } = await budget.state();
    await sleep(resetsAt - caretaker.clock.now() + RATE.windowMs / 2);
    const before = await service.ask({ ask: 'state' });
    const begun = performance.now();
    const waits = [];
    while (performance.now() - begun < 4 * RATE.windowMs) {
      const asked = performance.now();
      await client.call('listTags', { perPage: 1 }, { requestClass: 'person' });
      waits.push((performance.now() - asked) / 1_000);
      // Not in step with the windows.
      const left = begun + 4 * RATE.windowMs - performance.now();
      await sleep(Math.max(0, Math.min(left, 600 + 37 * waits.length)));
    }
    const after = await service.ask({ ask: 'state' });
    const could = (performance.now() - begun) * perMs;
    waits.sort((a, b) => a - b);
    return {
      'percentage of the budget used at saturation': (sum(after.requests) - sum(before.requests)) / could,
      '429s at saturation': after.limited - before.limited,
      "a person's request at saturation (s)": waits[Math.floor(waits.length / 2)],
      'the slowest of them (s)': waits.at(-1),
    };
  });
}

/** Targets per second without a limit, compared with what one would build with BullMQ alone. */
async function throughput() {
  const targets = 3_000;
  const body = { note: { content: 'Leader.' } };
  const call = { job: 'api-call', options: { operation: 'createSiteNote', body } };
  const effectsOf = async (service) => sum((await service.ask({ ask: 'state' })).effects);
  /** The service refuses some syncs, and no notes. */
  const checked = async (service, perMs, isSync) => {
    const effects = await effectsOf(service);
    if (effects < targets * (isSync ? 0.95 : 1) || effects > targets)
      throw new Error(`${effects} effects for ${targets} targets.`);
    return perMs * 1_000;
  };
  const ours = (given, of) =>
    onStage({ sites: targets, ...given }, async (stage) => {
      const { run, ms } = await runToEnd(stage, { concurrency: 1_000 }, { of });
      return checked(stage.service, run.counts.planned / ms, of === undefined);
    });
  const bare = (given, by) =>
    onStage({ sites: targets, workers: 0, ...given }, async ({ service, settings }) =>
      checked(
        service,
        await byBullmq({ ...service.said, redis: settings.redis.url, targets, body, by }),
        by === 'sync',
      ),
    );
  const sync = { taskMs: 100 };
  const [notes, calls, steps] = [await ours({}, call), await bare({}, 'call'), await bare({}, 'steps')];
  const [syncs, polled] = [await ours(sync), await bare(sync, 'sync')];
  return {
    'targets per second over bare BullMQ': notes / calls,
    'targets per second over a BullMQ job of steps': notes / steps,
    'syncs per second over BullMQ jobs that poll': syncs / polled,
    'targets per second': notes,
    'syncs per second, followed to their end': syncs,
  };
}

/** The memory that 10,000 targets cost a worker, compared with the same worker before. */
async function memory() {
  return onStage({ sites: 10_000, taskMs: 1_000 }, async (stage) => {
    const [worker] = stage.workers;
    await sleep(2_000);
    const { rss: idle } = await worker.ask();
    let most = idle;
    await runToEnd(
      stage,
      { concurrency: 1_000 },
      {
        async watch() {
          await sleep(400);
          most = Math.max(most, (await worker.ask()).rss);
        },
      },
    );
    return { 'extra memory of 10,000 targets (MB)': (most - idle) / 2 ** 20 };
  });
}

/** A plan of 10,000 sites, as `caretaker plan` makes it. */
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

/** The same night by a plain script: only its first ten sites, since the whole would take most of an hour. */
async function script() {
  return onStage({ sites: 1_000, ...RATE, workers: 0 }, async ({ service }) => {
    const { synced, ms, pages } = await byScript({ ...service.said, most: 10 });
    const { requests, limited } = await service.ask({ ask: 'state' });
    return {
      'a plain script: requests per target': (sum(requests) - pages) / synced + pages / 1_000,
      'a plain script: wall time (s), estimated': ((ms / synced) * 1_000) / 1_000,
      'a plain script: 429s': limited,
    };
  });
}

/**
 * The duration of `caretaker --help`, compared with an empty Node process; and the time until a daemon is
 * ready.
 */
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
    const daemon = await startDaemon({
      args: ['--port', '0'],
      env: { CARETAKER_DATA_DIR: dataDir },
      service,
      ready: /ready|dashboard/i,
    });
    const ms = performance.now() - begun;
    daemon.kill('SIGTERM');
    await once(daemon, 'exit');
    return ms;
  });
  await rm(dataDir, { recursive: true, force: true });
  return { 'caretaker --help over node -e 0': help / nothing, 'daemon ready (s)': ready / 1_000 };
}

export const figures = [
  { name: 'night', measure: night },
  { name: 'saturation', also: 'person', measure: saturation },
  { name: 'throughput', measure: throughput },
  { name: 'memory', measure: memory },
  { name: 'planning', measure: planning },
  { name: 'script', measure: script, once: true },
  { name: 'start', measure: start },
  { name: 'schedule', measure: schedule, once: true },
  { name: 'readers', measure: readers, once: true },
  { name: 'dashboard', measure: pages, once: true },
  { name: 'scale', measure: growth, once: true },
];

/** The goals. Figures without a goal are shown for comparison. */
export const toReach = {
  'requests per target': { most: 1.1 },
  'wall time over its lower bound': { most: 1.03 },
  '429s caused by Caretaker': { most: 0 },
  'percentage of the budget used at saturation': { least: 0.98 },
  '429s at saturation': { most: 0 },
  'targets per second over bare BullMQ': { least: 0.7 },
  'targets per second over a BullMQ job of steps': { least: 0.8 },
  'extra memory of 10,000 targets (MB)': { most: 60 },
  'plan of 10,000 sites (requests)': { most: 101 },
  'plan of 10,000 sites (s of CPU)': { most: 1.5 },
  "a person's request at saturation (s)": { most: 1 },
  'caretaker --help over node -e 0': { most: 1.4 },
  'daemon ready (s)': { most: 0.6 },
  ...toReachOfSchedule,
  ...toReachOfReaders,
  ...toReachOfPages,
  ...toReachOfGrowth,
};
