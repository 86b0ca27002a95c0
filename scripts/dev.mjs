/**
 * `npm run dev`: the sandbox, and a daemon that uses it, both from the current source.
 *
 * When a file in `src/` or `jobs/` changes, the source is built and both restart. The sandbox keeps its
 * account in a file. While the source does not compile, the last build keeps running. The sandbox listens on
 * `SANDBOX_PORT` (default 4010). Arguments are passed to the daemon: `npm run dev -- --port 8481`. Ctrl-C
 * ends both.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import process, { argv, env, execPath, stderr } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ensureBuild } from './build.mjs';
import { fingerprintOf } from './current-build.cjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Separate from the data of a daemon that works on a real account. */
const data = join(root, '.caretaker/dev');
const token = 'dev';
const CHECK_INTERVAL_MS = 300;

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stopping.abort());

const say = (line) => stderr.write(`${line}\n`);

/**
 * In its own process group, so that Ctrl-C reaches it once, from here: a second signal would end a daemon
 * immediately.
 */
function start(args, options) {
  const launcher = join(root, 'src/cli/bin.cjs');
  const child = spawn(execPath, [launcher, ...args], { cwd: root, detached: true, ...options });
  child.on('exit', (code) => {
    if (!child.killed) say(`The ${args[0]} ended with exit code ${code}. It restarts after the next change.`);
  });
  return child;
}

/** Returns no URL when the sandbox did not start, after printing its output. */
async function startSandbox() {
  const port = env.SANDBOX_PORT ?? '4010';
  const state = join(data, 'sandbox.json');
  const args = ['sandbox', '--port', port, '--token', token, '--speed', '20', '--state', state];
  const child = start(args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  child.stdout.setEncoding('utf8');
  const [first] = await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
  const url = /^listening (\S+)/.exec(first)?.[1];
  if (url === undefined) say(output);
  return { child, url };
}

async function startBoth() {
  const { child: sandbox, url } = await startSandbox();
  if (url === undefined) return [];
  const variables = {
    CARETAKER_BASE_URL: url,
    CARETAKER_API_TOKEN: token,
    CARETAKER_DATA_DIR: data,
    REDIS_URL: 'embedded',
  };
  const exports = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  say(`The sandbox: ${url}, its journal: ${new URL('/__sandbox/journal', url)}`);
  say(`To use both in another terminal: export ${exports.join(' ')}`);
  const daemon = start(['daemon', ...argv.slice(2)], { stdio: 'inherit', env: { ...env, ...variables } });
  return [daemon, sandbox];
}

/** One after the other: the daemon still needs answers from the sandbox. */
async function stop(children) {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

/** Resolves when there is a new build, or when it is time to stop. A check costs a few milliseconds. */
async function nextBuild(built) {
  for (let seen = built; !stopping.signal.aborted; ) {
    await sleep(CHECK_INTERVAL_MS, undefined, { signal: stopping.signal }).catch(() => {});
    const found = fingerprintOf(root);
    if (found === seen) continue;
    seen = found;
    const build = await ensureBuild({ say });
    if (build.ok) return seen;
    say(`${build.why}\n${build.output}`);
  }
  return built;
}

mkdirSync(data, { recursive: true });
let built = fingerprintOf(root);
while (!stopping.signal.aborted) {
  const children = await startBoth();
  built = await nextBuild(built);
  await stop(children);
}
