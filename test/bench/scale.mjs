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

/** Writes so many outcomes of earlier runs. */
const earlier = (outcomes) => async (caretaker) => {
  const history = { runs: Math.ceil(outcomes / 100), outcomes, sites: Math.ceil(outcomes / 10) };
  if (outcomes > 0) await fillFleet(caretaker, { ...history, now: Date.now() });
};

/** One run of so many sites, after so many outcomes of earlier runs, by so many workers. */
async function oneRun(name, { sites, outcomes = 0, workers = 1 }) {
  return onStage({ sites, workers, before: earlier(outcomes) }, async (stage) => {
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

/** So many runs of ten sites each, at once. Each has its own sites: two runs never work on a site at the same time. */
async function manyRuns(runs) {
  const name = runs === 1 ? '1 run of 10 sites' : `${number(runs)} runs of 10 sites at once`;
  return onStage({ sites: 9_999 }, async (stage) => {
    const store = await storeOf(stage);
    await store.slowlog('RESET');
    const began = await measured(stage);
    const begun = performance.now();
    const fire = (index) =>
      stage.caretaker.engine.fire(
        {
          ...policy(),
          ...call,
          name: `bench-${index}`,
          // Ten sites have a number that ends with these three digits.
          select: { filters: { url: { contains: `${100 + index}.example` } } },
        },
        { trigger: 'manual', scheduledFor: Date.now() },
      );
    const fired = await Promise.all(Array.from({ length: runs }, (_, index) => fire(index)));
    while ((await stage.caretaker.records.runs.countActive('default')) > 0) await sleep(100);
    const ms = performance.now() - begun;
    const after = await measured(stage);
    const ended = await stage.caretaker.records.runs.many(fired.map(({ id }) => id));
    const made = ended.reduce((sum, { counts }) => sum + counts.succeeded, 0);
    if (made !== runs * 10) throw new Error(`${made} of ${runs * 10} notes were made.`);
    return {
      ...perTarget(name, made, began, after, ms),
      [`${name}: commands over 1 ms`]: await slowCommands(store, name),
    };
  });
}

/**
 * So many accounts at their limit of 200 requests a minute, with one worker process, for a minute. Their windows begin
 * one after the other within a minute, as those of accounts that have nothing to do with each other.
 */
async function manyAccounts(accounts, outcomes = 0) {
  const history = outcomes === 0 ? '' : `, after ${counted(outcomes, 'outcome')}`;
  const name = `${counted(accounts, 'account')} at the limit${history}`;
  const given = { sites: 4 * LIMIT, rateLimit: LIMIT, windowMs: 60_000, accounts };
  return onStage({ ...given, before: earlier(outcomes) }, async (stage) => {
    const store = await storeOf(stage);
    for (const account of Object.keys(stage.settings.accounts)) {
      await stage.caretaker.engine.fire(
        { ...policy(), ...call, name: `bench-${account}`, account },
        { trigger: 'manual', scheduledFor: Date.now() },
      );
      await sleep(60_000 / accounts);
    }
    // The first window has the planning of its account in it.
    await sleep(10_000);
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
      [`${name}: percentage of the budget used`]:
        (sentAfter - sentBefore) / ((accounts * LIMIT * ms) / 60_000),
      [`${name}: 429s`]: limited,
      [`${name}: MB of memory of a worker`]: (await stage.workers[0].ask()).rss / 2 ** 20,
      [`${name}: commands over 1 ms`]: await slowCommands(store, name),
    };
  });
}

/** What a run of 1,000 sites writes to the append-only file, by the kind of key. */
async function onDisk() {
  const sites = some(1_000);
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

const some = (count) => Math.max(1, Math.round(count * scale));
const counted = (count, word) => `${number(count)} ${word}${count === 1 ? '' : 's'}`;

/** What is measured, one after the other. `BENCH_PARTS=runs,accounts` measures only these. */
const parts = {
  sites: scaled([100, 1_000, 10_000, 100_000]).map(
    (sites) => () => oneRun(`1 run of ${counted(sites, 'site')}`, { sites }),
  ),
  history: scaled([100_000, 1_000_000]).map(
    (outcomes) => () =>
      oneRun(`${counted(some(1_000), 'site')} after ${counted(outcomes, 'outcome')}`, {
        sites: some(1_000),
        outcomes,
      }),
  ),
  workers: [1, 2, 4].map(
    (workers) => () => oneRun(counted(workers, 'worker'), { sites: some(3_000), workers }),
  ),
  runs: scaled([1, 10, 100, 900]).map((runs) => () => manyRuns(runs)),
  accounts: [
    ...scaled([1, 10, 100]).map((accounts) => () => manyAccounts(accounts)),
    () => manyAccounts(1, some(1_000_000)),
  ],
  disk: [onDisk],
};

export async function growth() {
  const wanted = process.env.BENCH_PARTS?.split(',') ?? Object.keys(parts);
  const found = {};
  for (const measure of wanted.flatMap((part) => parts[part] ?? [])) {
    const figures = await measure();
    for (const [name, value] of Object.entries(figures)) process.stderr.write(`${name}: ${value}\n`);
    Object.assign(found, figures);
  }
  return found;
}

/** The goal: an agency with 100 accounts needs no second process. */
export const toReachOfGrowth = {
  '100 accounts at the limit: % of a core': { most: 50 },
  '100 accounts at the limit: percentage of the budget used': { least: 0.98 },
  '100 accounts at the limit: 429s': { most: 0 },
};
