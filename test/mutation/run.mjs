/**
 * `npm run mutation -- [--count 300] [--seed 1] [--only TEXT] [--limit SECONDS] [--minutes MINUTES] [--part
 * 1/2] [--report]`: changes the sources in one small place at a time, and looks whether a test notices.
 * `--part 1/2` beside `--part 2/2` shares the sample between two processes.
 *
 * Works in a copy of the tracked files, with one worker at the lowest priority. What was tried is kept in
 * `.mutation/`, one line each, so that a run that was stopped goes on where it was, and another seed adds to
 * it. `--report` only prints.
 *
 * StrykerJS 9, the last for Node 20, mutates code in the test's own process only, not in the processes that tests
 * start; on two files of `src/schedule` it had not tried its 510 mutants after nine minutes.
 */
import { fork, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { mutantsOf, mutated } from './mutants.mjs';
import { filesIn, relatedTests } from './related.mjs';
import { report } from './report.mjs';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    limit: { type: 'string', default: '60' },
    minutes: { type: 'string', default: '600' },
    part: { type: 'string', default: '1/1' },
    report: { type: 'boolean', default: false },
  },
});
const root = fileURLToPath(new URL('../..', import.meta.url));
const results = join(root, '.mutation', 'results.jsonl');
const folders = ['src/engine', 'src/client', 'src/budget', 'src/records', 'src/schedule', 'jobs'];
/** A file of tests that takes longer than this is left out; so many of the nearest are run for a mutant. */
const SLOWEST_MS = 60_000;
const MAX_FILES = 6;
const limitMs = Number(values.limit) * 1_000;
const [part, parts] = values.part.split('/').map(Number);

const known = existsSync(results)
  ? readFileSync(results, 'utf8')
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  : [];
if (values.report) {
  process.stdout.write(report(known));
  process.exit();
}

setPriority(19);
mkdirSync(dirname(results), { recursive: true });
const copy = mkdtempSync(join(tmpdir(), 'caretaker-mutation-'));
const { stdout } = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
for (const file of stdout.split('\0').filter((one) => one && existsSync(join(root, one))))
  cpSync(join(root, file), join(copy, file));
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));

let child;
/** Ends the runner with whatever its tests have started: it is the first of its own process group. */
function stop() {
  try {
    if (child) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
  child = undefined;
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
process.on('exit', () => {
  stop();
  rmSync(copy, { recursive: true, force: true });
});

async function runner() {
  if (child?.connected) return child;
  child = fork(fileURLToPath(new URL('runner.mjs', import.meta.url)), [copy, '45000'], {
    cwd: copy,
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  await new Promise((ready) => child.once('message', ready));
  return child;
}

/** Files of the copy that the runner has to compile again. */
const stale = new Set();
function write(file, text) {
  writeFileSync(join(copy, file), text);
  stale.add(join(copy, file));
}

/** Runs a file of tests until its first failure; `timeout` when that takes too long. */
async function run(test, ms) {
  const to = await runner();
  const began = Date.now();
  const changed = [...stale];
  stale.clear();
  const ended = Promise.withResolvers ? Promise.withResolvers() : deferred();
  const timer = setTimeout(() => ended.resolve('timeout'), ms);
  to.once('message', ended.resolve);
  to.once('exit', () => ended.resolve('timeout'));
  to.send({ test: join(copy, test), changed });
  const answer = await ended.promise;
  clearTimeout(timer);
  to.removeAllListeners('message');
  to.removeAllListeners('exit');
  if (answer === 'timeout') stop();
  return {
    answer,
    ms: Date.now() - began,
    fails: answer === 'timeout' || answer.failed.length > 0 || answer.passed === 0,
  };
}

function deferred() {
  const one = {};
  one.promise = new Promise((resolve) => {
    one.resolve = resolve;
  });
  return one;
}

/**
 * How long files of tests take on the sources as they are; null for one that fails there or takes too long.
 */
const durations = join(root, '.mutation', 'durations.json');
const usual = existsSync(durations) ? JSON.parse(readFileSync(durations, 'utf8')) : {};
async function usualMs(test) {
  if (usual[test] === undefined) {
    const { fails, ms } = await run(test, SLOWEST_MS);
    usual[test] = fails ? null : ms;
    writeFileSync(durations, JSON.stringify(usual, undefined, 2));
  }
  return usual[test];
}

/** What becomes of one mutant. */
async function tryOut({ file, ...mutant }, tests) {
  const source = readFileSync(join(copy, file), 'utf8');
  let spent = 0;
  let tried = 0;
  for (const test of tests) {
    if (tried >= MAX_FILES || spent > limitMs) break;
    const ms = await usualMs(test);
    if (ms === null) continue;
    tried += 1;
    write(file, mutated(source, mutant));
    const once = await run(test, 4 * ms + 20_000);
    // A test that fails once on a busy machine has not noticed anything yet.
    const last = once.fails && once.answer !== 'timeout' ? await run(test, 4 * ms + 20_000) : once;
    write(file, source);
    spent += once.ms;
    if (last.answer === 'timeout') return { is: 'timeout', by: test, files: tried };
    if (last.fails)
      return { is: 'killed', by: `${test}: ${last.answer.failed[0] ?? 'nothing ran'}`, files: tried };
  }
  return { is: tried === 0 ? 'untested' : 'survived', files: tried };
}

const testsOf = relatedTests(root);
const all = folders
  .flatMap((folder) => filesIn(root, folder))
  .flatMap((file) => {
    const source = readFileSync(join(copy, file), 'utf8');
    return mutantsOf(source).map((mutant) => ({ file, ...mutant }));
  });
/** The same order for the same seed, and nearly the same when a file has changed. */
const rank = ({ file, start, operator }) =>
  createHash('sha256').update(`${values.seed} ${file} ${start} ${operator}`).digest('hex');
const idOf = ({ file, line, column, operator, was }) =>
  `${file}:${line}:${column} ${operator} ${was.slice(0, 60)}`;
const done = new Set(known.map(({ id }) => id));
const sample = all
  .filter(({ file }) => file.includes(values.only))
  .map((mutant) => ({ mutant, rank: rank(mutant) }))
  .sort((a, b) => (a.rank < b.rank ? -1 : 1))
  .slice(0, Number(values.count))
  .filter((_, index) => index % parts === part - 1)
  .filter(({ mutant }) => !done.has(idOf(mutant)));

process.stderr.write(`${all.length} mutants, ${sample.length} to try\n`);
const until = Date.now() + Number(values.minutes) * 60_000;
for (const [index, { mutant }] of sample.entries()) {
  if (Date.now() > until) break;
  const began = Date.now();
  const found = await tryOut(mutant, testsOf(mutant.file));
  const { file, line, column, operator, was, replacement } = mutant;
  const result = {
    id: idOf(mutant),
    file,
    line,
    column,
    operator,
    was,
    now: replacement,
    ...found,
    ms: Date.now() - began,
  };
  appendFileSync(results, `${JSON.stringify(result)}\n`);
  known.push(result);
  process.stderr.write(
    `${index + 1}/${sample.length} ${result.is.padEnd(8)} ${result.id} (${Math.round(result.ms / 1_000)} s)\n`,
  );
}
process.stdout.write(report(known));
process.exit();
