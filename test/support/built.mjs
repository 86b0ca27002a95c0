/**
 * Modules of `src/` for programs that tests and benchmarks start: Node 20 does not run TypeScript. They are built when
 * they are first needed after a change.
 */
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureBuild } from '../../scripts/build.mjs';
import { useBuild } from '../../scripts/current-build.cjs';

const modules = [
  'app/caretaker',
  'app/daemon',
  'app/open-records',
  'clock',
  'control/carry-out',
  'control/commands/approve-run',
  'control/commands/resume-run',
  'control/commands/run-policy',
  'dashboard/client/page-text',
  'log',
  'redis/clock',
  'redis/connect',
  'redis/embedded/server',
  'run/moves',
  'sandbox/sandbox',
  'schedule/cron-tick',
  'schedule/scheduler',
  'settings/load-settings',
];
const nameOf = (module) => module.replaceAll('/', '.');
const entries = Object.fromEntries(modules.map((module) => [nameOf(module), `src/${module}.ts`]));

let building;

/** Imports a module of `src/`, which is one of the list above. */
export async function built(module) {
  building ??= build();
  return import(pathToFileURL(join(await building, `${nameOf(module)}.cjs`)).href);
}

async function build() {
  const dist = fileURLToPath(new URL('../.built', import.meta.url));
  const result = await ensureBuild({
    dist,
    make: (bundle, root) => bundle.bundleModules(root, entries),
    also: ['test/support/built.mjs'],
  });
  if (!result.ok) throw new Error(`${result.why}\n${result.output}`);
  useBuild(result.folder);
  return result.folder;
}
