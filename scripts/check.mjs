/**
 * `npm test`: all checks, one after the other, up to the first that fails. Arguments are passed to the tests:
 * `npm test -- test/queue`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { argv, execPath, exit, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { colorlessInPipes } from '../src/cli/output/colorless.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** With more files that fail, it is not the load of the machine. */
const MAX_RERUN = 5;

const steps = [
  ['Types', 'typescript/bin/tsc', '-p', 'tsconfig.json'],
  ['Types of the browser code', 'typescript/bin/tsc', '-p', 'src/dashboard/client'],
  ['Lint and format', '@biomejs/biome/bin/biome', 'check'],
  ['Build', '../scripts/build.mjs'],
];

for (const [heading, script, ...args] of steps) {
  const status = runStep(heading, script, args);
  if (status !== 0) fail(heading, status);
}
runTests(argv.slice(2));

/** Runs a script of `node_modules`, and returns its exit code. */
function runStep(heading, script, args) {
  stdout.write(`\n== ${heading}\n`);
  const options = { cwd: root, stdio: 'inherit', env: colorlessInPipes() };
  return spawnSync(execPath, [join(root, 'node_modules', script), ...args], options).status ?? 1;
}

/**
 * Runs the tests. A few files that fail are run once more, one after the other: a test that passes then depends on how
 * busy the machine is. It does not fail the whole, and is named at the end, to be mended.
 */
function runTests(args) {
  const folder = mkdtempSync(join(tmpdir(), 'caretaker-check-'));
  const report = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const status = runStep('Tests', 'vitest/vitest.mjs', ['run', ...reporters, ...args]);
  const failed = failedFiles(report);
  rmSync(folder, { recursive: true, force: true });
  if (status === 0) return;
  if (failed.length === 0 || failed.length > MAX_RERUN) fail('Tests', status);
  const heading = 'Tests that failed, once more, one file at a time';
  const again = runStep(heading, 'vitest/vitest.mjs', ['run', '--maxWorkers=1', ...failed]);
  if (again !== 0) fail('Tests', again);
  stdout.write(`\nTests: passed, but these failed beside the others: ${failed.join(', ')}\n`);
}

/** The files with a failure. None when an error outside of a test failed the run, or nothing was written. */
function failedFiles(report) {
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    return testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative(root, name));
  } catch {
    return [];
  }
}

function fail(heading, status) {
  stdout.write(`\n${heading}: failed\n`);
  exit(status);
}
