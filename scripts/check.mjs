/**
 * `npm test`: all checks, one after the other, up to the first that fails. `npm run test:long`: the long tests
 * alone. Arguments are passed to the tests: `npm test -- test/queue`.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { argv, execPath, exit, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { colorlessInPipes } from '../src/cli/output/colorless.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const isLong = argv[2] === '--long';
const short = [
  // Its threads would each check what several files use: in one, it takes half of the processor's time.
  ['Types', 'typescript/bin/tsc', '-p', 'tsconfig.json', '--singleThreaded'],
  ['Types of the browser code', 'typescript/bin/tsc', '-p', 'src/dashboard/client'],
  ['Lint and format', '@biomejs/biome/bin/biome', 'check'],
  ['Build', '../scripts/build.mjs'],
  ['Tests', 'vitest/vitest.mjs', 'run', ...argv.slice(2)],
];
const long = [
  ['Long tests', 'vitest/vitest.mjs', 'run', '--config', 'vitest.long.config.ts', ...argv.slice(3)],
];

for (const [heading, script, ...args] of isLong ? long : short) {
  stdout.write(`\n== ${heading}\n`);
  const options = { cwd: root, stdio: 'inherit', env: colorlessInPipes() };
  const { status } = spawnSync(execPath, [join(root, 'node_modules', script), ...args], options);
  if (status !== 0) {
    stdout.write(`\n${heading}: failed\n`);
    exit(status ?? 1);
  }
}
