/**
 * `npm run chaos -- --kills 200 [--seed N] [--conditions cut,late] [--stories chaos-grace] [--older COMMIT]`: the
 * long form of the chaos test. The kills are divided among the conditions, by default all of them. The seed of a
 * failing run is printed.
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
    conditions: { type: 'string' },
    stories: { type: 'string' },
    older: { type: 'string' },
  },
});
// The daemons run the build, which has to be current.
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
    '--config',
    'vitest.long.config.ts',
    'test/chaos/chaos.long.test.ts',
    // Facts that change between the plan and the turn of a target.
    ...(values.stories ? [] : ['test/engine/act/changing-facts.long.test.ts']),
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...colorlessInPipes(),
      CHAOS_KILLS: values.kills,
      CHAOS_SEED: seed,
      ...(values.conditions && { CHAOS_CONDITIONS: values.conditions }),
      ...(values.stories && { CHAOS_STORIES: values.stories }),
      ...(values.older && { CHAOS_OLDER: values.older }),
    },
  },
);
exit(status ?? 1);
