/**
 * `npm run screens [-- --only overview,runs --width 1440 --scheme dark --days 60 --first --serve --rebuild
 * --readme]`: an agency with 400 sites and 60 days of history, made by the engine against the sandbox, and a picture
 * of every page of its dashboard. `--readme` makes the pictures of the README instead.
 */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { argv, env, execPath, exit, stderr } from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuild } from '../../scripts/build.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'screens');
const options = {
  only: { type: 'string' },
  also: { type: 'string' },
  width: { type: 'string' },
  scheme: { type: 'string' },
  user: { type: 'string' },
  days: { type: 'string', default: '60' },
  first: { type: 'boolean' },
  serve: { type: 'boolean' },
  rebuild: { type: 'boolean' },
  readme: { type: 'boolean' },
};
const { values } = parseArgs({ args: argv.slice(2), options });
const build = await ensureBuild({ say: (line) => stderr.write(`${line}\n`) });
if (!build.ok) {
  stderr.write(`${build.why}\n${build.output}\n`);
  exit(1);
}
if (values.rebuild) rmSync(join(folder, `history-${values.days}.bin`), { force: true });
const given = {
  SCREENS_DAYS: values.days,
  SCREENS_ONLY: values.only,
  SCREENS_ALSO: values.also,
  SCREENS_WIDTHS: values.width,
  SCREENS_SCHEMES: values.scheme,
  SCREENS_USER: values.user,
  SCREENS_FIRST: values.first && 'yes',
  SCREENS_SERVE: values.serve && 'yes',
  SCREENS_README: values.readme && 'yes',
};
const { status } = spawnSync(
  execPath,
  [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--config=vitest.long.config.ts',
    '--disable-console-intercept=true',
    'test/screens/screens.long.test.ts',
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...env,
      SCREENS: folder,
      ...Object.fromEntries(Object.entries(given).filter(([, value]) => value)),
    },
  },
);
exit(status ?? 1);
