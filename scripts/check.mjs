/**
 * `npm test`: all checks, and the tests if none has failed. `npm run test:long`: the long tests alone. Arguments are
 * passed to the tests: `npm test -- test/queue`.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { argv, execPath, exit, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { colorlessInPipes } from '../src/cli/output/colorless.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** They run at the same time, so each in one thread where that costs less. */
const quick = [
  ['Types', 'typescript/bin/tsc', '-p', 'tsconfig.json', '--singleThreaded'],
  ['Types of the browser code', 'typescript/bin/tsc', '-p', 'src/dashboard/client'],
  ['Lint and format', '@biomejs/biome/bin/biome', 'check'],
  ['Build', '../scripts/build.mjs'],
];
const tests = ['Tests', 'vitest/vitest.mjs', 'run', ...argv.slice(2)];
const long = [
  'Long tests',
  'vitest/vitest.mjs',
  'run',
  '--config',
  'vitest.long.config.ts',
  ...argv.slice(3),
];

/** Starts a check. Gives what it printed, unless `stdio` is to inherit ours, and whether it succeeded. */
function start([heading, script, ...args], stdio) {
  const child = spawn(execPath, [join(root, 'node_modules', script), ...args], {
    cwd: root,
    stdio: ['inherit', stdio, stdio],
    env: colorlessInPipes(),
  });
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes) => printed.push(bytes));
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ heading, isDone: code === 0, printed: Buffer.concat(printed) }));
  });
}

const say = (heading) => stdout.write(`\n== ${heading}\n`);
function endIfFailed({ heading, isDone }) {
  if (isDone) return;
  stdout.write(`\n${heading}: failed\n`);
  exit(1);
}

const isLong = argv[2] === '--long';
const checks = isLong ? [] : await Promise.all(quick.map((check) => start(check, 'pipe')));
for (const { heading, printed } of checks) {
  say(heading);
  stdout.write(printed);
}
for (const check of checks) endIfFailed(check);
const last = isLong ? long : tests;
say(last[0]);
endIfFailed(await start(last, 'inherit'));
