/**
 * `npm run chaos -- --kills 200 [--seed N] [--circumstances cut,late]`: the chaos test in its long form. The
 * kills are shared out among the circumstances, by default all; the seed of a failing run is printed.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { argv, execPath, exit, stderr } from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuild } from '../../scripts/build.mjs';
import { colorlessInPipes } from '../../src/cli/output/colorless.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({
  args: argv.slice(2),
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string' },
    circumstances: { type: 'string' },
  },
});
// The daemons run what was built, which has to be the source as it is.
const build = await ensureBuild({ say: (line) => stderr.write(`${line}\n`) });
if (!build.ok) {
  stderr.write(`${build.why}\n${build.output}\n`);
  exit(1);
}
const seed = values.seed ?? String(Date.now() % 1_000_000);
const { status } = spawnSync(
  execPath,
  [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--disable-console-intercept=true',
    'test/chaos/chaos.test.ts',
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...colorlessInPipes(),
      CHAOS_KILLS: values.kills,
      CHAOS_SEED: seed,
      ...(values.circumstances && { CHAOS_CIRCUMSTANCES: values.circumstances }),
    },
  },
);
exit(status ?? 1);
