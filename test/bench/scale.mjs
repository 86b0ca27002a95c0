/**
 * How time, memory, Redis memory, commands and bytes on disk grow: with the sites of a run, the outcomes of earlier runs,
 * the worker processes, the runs at once, and the accounts.
 *
 * The job is `api-call` with one note for each site, without a limit, by one worker process; where it is otherwise, the
 * part says so.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { bytesByKind } from './aof.mjs';
import { fillFleet } from './fleet.mjs';
import { onStage, policy, runToEnd, sleep } from './stage.mjs';

/** A smaller measurement, for a look: `BENCH_FLEET=0.01`. */
const scale = Number(process.env.BENCH_FLEET ?? 1);
const scaled = (counts) => [...new Set(counts.map((count) => Math.max(1, Math.round(count * scale))))];
const SLOW_US = 1_000;
const LIMIT = 200;

const call = {
  job: 'api-call',
  options: { operation: 'createSiteNote', body: { note: { content: 'Leader.' } } },
};
const number = (count) => count.toLocaleString('en');

async function storeOf({ caretaker }) {
  const { store } = caretaker.redis;
  await store.config('SET', 'slowlog-log-slower-than', String(SLOW_US), 'slowlog-max-len', '1000');
  return store;
}

async function measured(stage) {
  const { store } = stage.caretaker.redis;
  const [memory, stats] = [await store.info('memory'), await store.info('stats')];
  const cpu = await Promise.all(stage.workers.map(async (worker) => (await worker.ask()).cpuMs));
  return {
    memory: Number(/used_memory:(\d+)/.exec(memory)?.[1]),
    commands: Number(/total_commands_processed:(\d+)/.exec(stats)?.[1]),
    cpuMs: cpu.reduce((sum, ms) => sum + ms, 0),
    bytes: await bytesOnDisk(stage.dir),
  };
}

async function bytesOnDisk(dir) {
  const folder = join(dir, 'appendonlydir');
  const files = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** What took Redis longer than a millisecond, on stderr. Gives the number. */
async function slowCommands(store, name) {
  const slow = await store.slowlog('GET', 1_000);
  for (const [, , us, [command, script, , key]] of slow)
    process.stderr.write(
      `${name}: ${command} ${String(script).slice(0, 12)} ${String(key).slice(0, 60)}: ${us} us\n`,
    );
  return slow.length;
}

/** What each target took, between two measurements. */
function perTarget(name, targets, before, after, ms) {
  return {
    [`${name}: ms a target`]: ms / targets,
    [`${name}: ms of CPU a target`]: (after.cpuMs - before.cpuMs) / targets,
    [`${name}: commands a target`]: (after.commands - before.commands) / targets,
    [`${name}: bytes of Redis memory a target`]: (after.memory - before.memory) / targets,
    [`${name}: bytes on disk a target`]: (after.bytes - before.bytes) / targets,
  };
}

/** One run of so many sites, after so many outcomes of earlier runs, by so many workers. */
async function oneRun(name, { sites, outcomes = 0, workers = 1 }) {
  const history = { runs: Math.ceil(outcomes / 100), outcomes, sites: Math.ceil(outcomes / 10) };
  const before = async (caretaker) => {
    if (outcomes > 0) await fillFleet(caretaker, { ...history, now: Date.now() });
  };
  return onStage({ sites, workers, before }, async (stage) => {
    const store = await storeOf(stage);
    await store.slowlog('RESET');
    const began = await measured(stage);
    const idle = (await stage.workers[0].ask()).rss;
    let most = idle;
    const watch = async () => {
      await sleep(900);
      most = Math.max(most, (await stage.workers[0].ask()).rss);
    };
    const { run, ms } = await runToEnd(
      stage,
      { concurrency: 1_000 },
      { of: call, ...(workers === 1 && { watch }) },
    );
    const after = await measured(stage);
    if (run.counts.succeeded !== sites)
      throw new Error(`${run.counts.succeeded} of ${sites} notes were made.`);
    return {
      ...perTarget(name, sites, began, after, ms),
      [`${name}: MB of memory of a worker`]: most / 2 ** 20,
      [`${name}: commands over 1 ms`]: await slowCommands(store, name),
    };
  });
}

/** So many runs of 20 sites each, at once. */
async function manyRuns(runs) {
  const name = `${number(runs)} runs at once`;
  const sites = 20;
  return onStage({ sites }, async (stage) => {
    const store = await storeOf(stage);
    await store.slowlog('RESET');
    const before = await measured(stage);
    const begun = performance.now();
    const names = Array.from({ length: runs }, (_, index) => `bench-${index}`);
    await Promise.all(
      names.map((one) =>
        stage.caretaker.engine.fire(
          { ...policy(), ...call, name: one },
          { trigger: 'manual', scheduledFor: Date.now() },
        ),
      ),
    );
    while ((await stage.caretaker.records.runs.countActive('default')) > 0) await sleep(100);
    const after = await measured(stage);
    return {
      ...perTarget(name, runs * sites, before, after, performance.now() - begun),
      [`${name}: commands over 1 ms`]: await slowCommands(store, name),
    };
  });
}

/** So many accounts at their limit of 200 requests a minute, with one worker process, for a minute. */
async function manyAccounts(accounts) {
  const name = `${number(accounts)} ${accounts === 1 ? 'account' : 'accounts'} at the limit`;
  const given = { sites: 3 * LIMIT, rateLimit: LIMIT, windowMs: 60_000, accounts };
  return onStage(given, async (stage) => {
    const store = await storeOf(stage);
    await Promise.all(
      Object.keys(stage.settings.accounts).map((account) =>
        stage.caretaker.engine.fire(
          { ...policy(), ...call, name: `bench-${account}`, account },
          { trigger: 'manual', scheduledFor: Date.now() },
        ),
      ),
    );
    // The first window has the planning of all accounts in it.
    await sleep(60_000);
    await store.slowlog('RESET');
    const sent = async () => {
      const { requests } = await stage.service.ask({ ask: 'state' });
      return Object.values(requests).reduce((sum, count) => sum + count, 0);
    };
    const [before, sentBefore, begun] = [await measured(stage), await sent(), performance.now()];
    await sleep(60_000);
    const [after, sentAfter, ms] = [await measured(stage), await sent(), performance.now() - begun];
    const { limited } = await stage.service.ask({ ask: 'state' });
    return {
      [`${name}: % of a core`]: ((after.cpuMs - before.cpuMs) / ms) * 100,
      [`${name}: requests a minute`]: ((sentAfter - sentBefore) / ms) * 60_000,
      [`${name}: 429s`]: limited,
      [`${name}: MB of memory of a worker`]: (await stage.workers[0].ask()).rss / 2 ** 20,
      [`${name}: commands over 1 ms`]: await slowCommands(store, name),
    };
  });
}

/** What a run of 1,000 sites writes to the append-only file, by the kind of key. */
async function onDisk() {
  const sites = Math.max(1, Math.round(1_000 * scale));
  return onStage({ sites }, async (stage) => {
    await sleep(1_000);
    const before = await bytesByKind(stage.dir);
    await runToEnd(stage, { concurrency: 1_000 }, { of: call });
    const after = await bytesByKind(stage.dir);
    const kinds = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    const entries = kinds.map((kind) => [kind, ((after[kind] ?? 0) - (before[kind] ?? 0)) / sites]);
    return Object.fromEntries(
      entries
        .filter(([, bytes]) => bytes >= 1)
        .sort(([, a], [, b]) => b - a)
        .map(([kind, bytes]) => [`append-only file, ${kind} (bytes a target)`, bytes]),
    );
  });
}

export async function growth() {
  const found = {};
  const add = (figures) => {
    for (const [name, value] of Object.entries(figures)) process.stderr.write(`${name}: ${value}\n`);
    Object.assign(found, figures);
  };
  for (const sites of scaled([100, 1_000, 10_000, 100_000]))
    add(await oneRun(`${number(sites)} sites`, { sites }));
  for (const outcomes of scaled([100_000, 1_000_000])) {
    const sites = Math.max(1, Math.round(1_000 * scale));
    add(await oneRun(`${number(sites)} sites after ${number(outcomes)} outcomes`, { sites, outcomes }));
  }
  for (const workers of [1, 2, 4]) {
    const sites = Math.max(1, Math.round(3_000 * scale));
    add(await oneRun(`${workers} ${workers === 1 ? 'worker' : 'workers'}`, { sites, workers }));
  }
  for (const runs of scaled([1, 10, 100, 1_000])) add(await manyRuns(runs));
  for (const accounts of scaled([1, 10, 100])) add(await manyAccounts(accounts));
  add(await onDisk());
  return found;
}

/** The goal: an agency with 100 accounts needs no second process. */
export const toReachOfGrowth = { '100 accounts at the limit: % of a core': { most: 50 } };
