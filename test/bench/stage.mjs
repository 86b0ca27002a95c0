/**
 * The setup of every figure: a Redis, the service and workers as processes, and a Caretaker that fires and
 * reads.
 */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { built } from '../support/built.mjs';

const { openCaretaker } = await built('app/caretaker');
const { openLog } = await built('log');
const { loadSettings } = await built('settings/load-settings');
const { healthOf } = await built('redis/embedded/server');

const here = (file) => fileURLToPath(new URL(file, import.meta.url));

export async function child(file, facts, execArgv = []) {
  const process = fork(here(file), [JSON.stringify(facts)], {
    execArgv,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [said] = await once(process, 'message');
  return {
    said,
    async ask(what = {}) {
      process.send(what);
      return (await once(process, 'message'))[0];
    },
    async end() {
      if (process.exitCode !== null || process.signalCode !== null) return;
      process.kill('SIGKILL');
      await once(process, 'exit');
    },
  };
}

/** Creates the setup, calls `play` with it, and removes it. Times are real. `before` is called before workers start. */
export async function onStage(
  {
    sites,
    taskMs = 30_000,
    rateLimit = 0,
    windowMs = 5_000,
    workers = 1,
    concurrency = 50,
    accounts = 1,
    before,
  },
  play,
) {
  const dir = await mkdtemp(join(tmpdir(), 'caretaker-bench-'));
  const socket = join(dir, 'redis.sock');
  const redis = spawn(
    'redis-server',
    [
      '--port',
      '0',
      '--unixsocket',
      socket,
      '--dir',
      dir,
      '--appendonly',
      'yes',
      '--appendfsync',
      'always',
      '--save',
      '',
    ],
    { stdio: 'ignore' },
  );
  const ends = [];
  try {
    while ((await healthOf(socket)) !== 'ready') await sleep(10);
    const service = await child('service.mjs', { sites, taskMs, rateLimit, windowMs, accounts });
    ends.push(() => service.end());
    const configPath = join(dirname(socket), 'caretaker.yaml');
    await writeFile(configPath, 'dashboard: { port: 0 }\n');
    const settings = {
      ...loadSettings({ configPath, cwd: dirname(socket), env: {} }),
      accounts: Object.fromEntries(
        service.said.accounts.map(({ url, token }, index) => {
          const name = index === 0 ? 'default' : `account-${index}`;
          const requestsPerMinute = rateLimit === 0 ? 1_000_000 : rateLimit;
          return [name, { name, baseUrl: url, token, budget: { requestsPerMinute, reserve: 0 }, unset: {} }];
        }),
      ),
      redis: { kind: 'url', url: socket },
      dataDir: dirname(socket),
      daemon: { concurrency },
    };
    const caretaker = await openCaretaker({ settings, log: await openLog({ level: 'error', form: 'json' }) });
    ends.push(() => caretaker.close());
    await before?.(caretaker);
    const open = async () => {
      const worker = await child('worker.mjs', settings, ['--expose-gc']);
      ends.push(() => worker.end());
      return worker;
    };
    const working = await Promise.all(Array.from({ length: workers }, open));
    return await play({ caretaker, service, workers: working, settings, dir });
  } finally {
    for (const end of ends.reverse()) await end();
    redis.kill('SIGKILL');
    await once(redis, 'exit');
    await rm(dir, { recursive: true, force: true });
  }
}

export const bin = here('../../src/cli/bin.cjs');

/** Starts a daemon for the account of a service; resolves with it once it has said that it is ready. */
export async function startDaemon({ args = [], cwd, env, service, ready }) {
  const daemon = spawn(process.execPath, [bin, 'daemon', ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      REDIS_URL: '',
      CARETAKER_BASE_URL: service.said.url,
      CARETAKER_API_TOKEN: service.said.token,
      ...env,
    },
  });
  let said = '';
  await new Promise((resolve, reject) => {
    const hear = (text) => {
      said += text;
      if (ready.test(said)) resolve();
    };
    daemon.stdout.on('data', hear);
    daemon.stderr.on('data', hear);
    daemon.once('exit', () => reject(new Error(`The daemon ended: ${said}`)));
  });
  daemon.removeAllListeners('exit');
  return daemon;
}

/** A policy for all sites. */
export const policy = (limits = {}) => ({
  name: 'bench',
  account: 'default',
  job: 'site-sync',
  priority: 'normal',
  select: { filters: {} },
  options: { mode: 'all' },
  limits: { concurrency: 1_000, maxTargets: 100_000, maxPercent: 100, ...limits },
  retry: { attempts: 4, backoff: 'exponential', delayMs: 30_000, maxDelayMs: 900_000 },
  timeout: { targetMs: 7_200_000, runMs: 28_800_000 },
  notify: [],
  file: 'bench.yaml',
  hash: 'bench',
});

/**
 * Fires the policy, of the job `of` if given, and waits for its end; `watch` is called a few times per second
 * meanwhile. `ms` is the time until the end that the run recorded, however late it is seen here.
 */
export async function runToEnd({ caretaker }, limits, { of = {}, watch = async () => {} } = {}) {
  const begun = Date.now();
  const fired = await caretaker.engine.fire(
    { ...policy(limits), ...of },
    { trigger: 'manual', scheduledFor: Date.now() },
  );
  for (;;) {
    const run = await caretaker.records.runs.get(fired.id);
    if (run?.finishedAt !== undefined) return { run, ms: run.finishedAt - begun };
    await watch();
    await sleep(100);
  }
}

export { sleep };
