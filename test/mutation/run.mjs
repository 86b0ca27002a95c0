/**
 * `npm run mutation -- [--count 3000] [--seed 1] [--only TEXT] [--minutes 60] [--tries 40] [--again] [--report]`: changes
 * the sources in one small place at a time, and looks whether a test notices.
 *
 * All mutants of the sample are compiled in at once, each behind a switch. A first round runs every test without a
 * mutant, and learns how long each takes and which mutants it comes by. In every further round each test has one
 * mutant that it comes by and that no test has noticed, the cheap tests first. So a run of the tests tries thousands
 * of mutants, not one. A mutant counts as noticed when the same test has failed with it twice.
 *
 * What was tried is kept in `.mutation/`, and a run that was stopped goes on there; remove the folder to begin anew.
 * `--again`, after tests were changed, tries what was noticed once more, and forgets the rest: none may survive.
 * Not tried, and in the report as not reached: what runs only while a module loads, or only in started processes.
 *
 * StrykerJS 9, the last for Node 20, tries one mutant at a time: of two files of `src/schedule` it had not tried the
 * 510 mutants after nine minutes.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { mutantsOf } from './mutants.mjs';
import { grouped, report } from './report.mjs';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '3000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    minutes: { type: 'string', default: '60' },
    tries: { type: 'string', default: '40' },
    again: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
  },
});
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, '.mutation');
const kept = join(folder, 'state.json');
const until = Date.now() + Number(values.minutes) * 60_000;

/** A round is stopped when no test has begun or ended for so long. */
const SILENCE_MS = 100_000;
/** What the tests of one round take together, at most: some two minutes on four workers. */
const ROUND_MS = 400_000;

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
mkdirSync(folder, { recursive: true });
const state = existsSync(kept)
  ? JSON.parse(readFileSync(kept, 'utf8'))
  : { mutants: sampled(), tests: undefined, rounds: 0 };
if (values.again) Object.assign(state, { mutants: noticedBefore(state), tests: undefined, rounds: 0 });
const save = () => {
  writeFileSync(`${kept}.new`, JSON.stringify(state));
  renameSync(`${kept}.new`, kept);
};

/** What was noticed before, as far as it is still there; it is tried first by the test that noticed it. */
function noticedBefore({ mutants }) {
  const files = [...new Set(mutants.map(({ file }) => file))].filter((file) => existsSync(join(root, file)));
  const now = new Map(files.flatMap(mutantsIn).map((one) => [one.key, one]));
  return mutants
    .filter(({ by, key }) => by && now.has(key))
    .map(({ by, key }, id) => ({ ...now.get(key), id, suspect: by, tried: [] }));
}

const mutantsIn = (file) =>
  mutantsOf(readFileSync(join(root, file), 'utf8'), file).map((one) => ({ file, ...one }));

function sampled() {
  const rank = ({ file, start, operator }) =>
    createHash('sha256').update(`${values.seed} ${file} ${start} ${operator}`).digest('hex');
  return (
    ['src', 'jobs']
      .flatMap((top) => filesIn(top))
      // The service is the world of the tests, and the browser's code runs in browsers alone.
      .filter((file) => !/^src\/(sandbox|dashboard\/client)\//.test(file) && file.includes(values.only))
      .flatMap(mutantsIn)
      .map((mutant) => [rank(mutant), mutant])
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, Number(values.count))
      .map(([, mutant], id) => ({ id, ...mutant, tried: [] }))
  );
}

function filesIn(top) {
  return readdirSync(join(root, top), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(top, file));
}

/** Runs the tests of `plan` (all of them without one), and gives what each wrote down. */
async function round(plan) {
  for (const file of readdirSync(folder)) if (file.startsWith('results-')) rmSync(join(folder, file));
  const mutants = grouped(state.mutants, ({ file }) => file);
  const files = plan
    ? [...new Set(Object.keys(plan).map((name) => name.split(' > ')[0]))]
    : ['test/**/*.test.ts'];
  writeFileSync(
    join(folder, 'round.json'),
    JSON.stringify({ count: state.mutants.length, mutants, files, tests: plan }),
  );
  const child = spawn(
    process.execPath,
    [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'test/mutation/vitest.config.mjs'],
    { cwd: root, detached: true, stdio: 'ignore', env: { ...process.env, MUTATION_FOLDER: folder } },
  );
  const stop = () => process.kill(-child.pid, 'SIGKILL');
  process.once('exit', stop);
  const written = () => readdirSync(folder).filter((file) => file.startsWith('results-'));
  const size = () => written().reduce((sum, file) => sum + readFileSync(join(folder, file)).length, 0);
  let [last, since] = [0, Date.now()];
  const watch = setInterval(() => {
    const now = size();
    if (now !== last) [last, since] = [now, Date.now()];
    else if (Date.now() - since > SILENCE_MS) stop();
  }, 5_000);
  await new Promise((resolve) => child.once('exit', resolve));
  clearInterval(watch);
  process.off('exit', stop);
  const lines = written().flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'));
  if (lines.length > 0) return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line));
  process.stderr.write(
    'No test ran. To see why: MUTATION_FOLDER=.mutation npx vitest run --config test/mutation/vitest.config.mjs --reporter default\n',
  );
  process.exit(1);
}

const open = () => state.mutants.filter(({ by }) => !by);

/** Each test with the mutant that it tries next. Those that failed once are tried by the same test again. */
function planned() {
  const plan = {};
  let sum = 0;
  const take = (mutant, name) => {
    const { ms } = state.tests[name];
    plan[name] = { mutant: mutant.id, limitMs: 3_000 + 5 * ms };
    sum += ms;
  };
  for (const mutant of open()) {
    if (mutant.suspect && !plan[mutant.suspect]) take(mutant, mutant.suspect);
  }
  const waiting = open()
    .filter(({ suspect, tried }) => !suspect && tried.length < Number(values.tries))
    .map((mutant) => ({ mutant, names: namesFor(mutant) }))
    .filter(({ names }) => names.length > 0)
    .sort((a, b) => a.names.length - b.names.length);
  for (let again = true; again && sum < ROUND_MS; ) {
    again = false;
    for (const { mutant, names } of waiting) {
      const at = names.findIndex((name) => !plan[name]);
      if (at < 0 || sum >= ROUND_MS) continue;
      take(mutant, names.splice(at, 1)[0]);
      again = true;
    }
  }
  return plan;
}

/** What each mutant's tests are, by its id. */
let byMutant;
/** The tests that come by a mutant and have not tried it, those first that are cheap, near and about little else. */
function namesFor({ id, file, tried }) {
  if (!byMutant) {
    byMutant = state.mutants.map(() => []);
    for (const [name, { reached }] of Object.entries(state.tests))
      for (const one of reached) byMutant[one].push(name);
  }
  const near = `test/${roomOf(file)}/`;
  // A test that comes by few mutants is about them.
  const cost = (name) => {
    const { ms, reached } = state.tests[name];
    return (20 + ms) * (20 + reached.length) * (name.startsWith(near) ? 1 : 4);
  };
  const costs = new Map(byMutant[id].map((name) => [name, cost(name)]));
  return byMutant[id].filter((name) => !tried.includes(name)).sort((a, b) => costs.get(a) - costs.get(b));
}
const roomOf = (file) =>
  file
    .replace(/^src\//, '')
    .split('/')
    .slice(0, file.startsWith('jobs/') ? 2 : 1)
    .join('/');

function learn(lines) {
  const ended = new Set(lines.filter(({ is }) => is !== 'begun').map(({ test }) => test));
  for (const { test, mutant: id, is } of lines) {
    if (id === undefined || (is === 'begun' && ended.has(test))) continue;
    const mutant = state.mutants[id];
    if (is === 'passed') {
      if (!mutant.tried.includes(test)) mutant.tried.push(test);
      if (mutant.suspect === test) mutant.suspect = undefined;
    } else if (mutant.suspect === test) mutant.by = test;
    else mutant.suspect ??= test;
  }
}

if (!values.report && !state.tests) {
  const lines = await round();
  const usable = lines.filter(({ is }) => is === 'passed');
  state.tests = Object.fromEntries(usable.map(({ test, ms, reached }) => [test, { ms, reached }]));
  // A test that noticed a mutant before may be gone.
  for (const one of state.mutants) if (!state.tests[one.suspect]) one.suspect = undefined;
  process.stderr.write(`${usable.length} tests, ${lines.length - usable.length} not usable\n`);
  for (const { test, is, error } of lines)
    if (is === 'failed') process.stderr.write(`failed: ${test}: ${error}\n`);
  save();
}
while (!values.report && Date.now() < until) {
  const plan = planned();
  if (Object.keys(plan).length === 0) break;
  const began = Date.now();
  learn(await round(plan));
  state.rounds += 1;
  save();
  process.stderr.write(
    `round ${state.rounds}: ${Object.keys(plan).length} tests, ${Math.round((Date.now() - began) / 1_000)} s; ${open().length} of ${state.mutants.length} mutants not noticed\n`,
  );
}
const isReached = new Set(Object.values(state.tests ?? {}).flatMap(({ reached }) => reached));
process.stdout.write(report(state.mutants, isReached));
