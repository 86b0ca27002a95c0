/** A small checkout in a temporary folder, with the real launcher and set-up and a source of three lines. */
import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Ended, type Process, started } from '../support/cli.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Checkout {
  dir: string;
  /** Replaces `src/cli/main.ts`: the body of its `main(argv)`. */
  writeMain(body: string): Promise<void>;
  /** Starts `bin.cjs` or one of `scripts/*.mjs`. */
  start(script: string, args?: string[], env?: NodeJS.ProcessEnv): Process;
  /** The same, until it ends. */
  run(script: string, args?: string[], env?: NodeJS.ProcessEnv): Promise<Ended>;
  remove(): Promise<void>;
}

export async function makeCheckout(): Promise<Checkout> {
  const dir = await mkdtemp(join(tmpdir(), 'caretaker-checkout-'));
  await mkdir(join(dir, 'src/cli'), { recursive: true });
  await mkdir(join(dir, 'jobs'));
  await mkdir(join(dir, 'scripts'));
  await mkdir(join(dir, 'node_modules/.bin'), { recursive: true });
  const names = [
    'build.mjs',
    'bundle.mjs',
    'current-build.cjs',
    'dev.mjs',
    'set-up.mjs',
    'system-packages.mjs',
  ];
  const scripts = names.map((name) => `scripts/${name}`);
  const settings = ['package.json', 'package-lock.json'];
  for (const file of [
    'src/cli/bin.cjs',
    'src/cli/compiled.cjs',
    ...scripts,
    ...settings,
    'node_modules/.package-lock.json',
  ]) {
    await cp(join(root, file), join(dir, file));
  }
  const client = 'src/dashboard/client';
  await cp(join(root, client), join(dir, client), { recursive: true });
  for (const name of ['esbuild', '@esbuild']) {
    await symlink(join(root, 'node_modules', name), join(dir, 'node_modules', name));
  }
  const start: Checkout['start'] = (script, args = [], env = {}) =>
    started(
      spawn(process.execPath, [join(dir, script === 'bin.cjs' ? 'src/cli' : 'scripts', script), ...args], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, ...env },
      }),
    );
  return {
    dir,
    start,
    writeMain: (body) =>
      writeFile(
        join(dir, 'src/cli/main.ts'),
        `export async function main(_argv: string[]): Promise<number> {\n${body}\n}\n`,
      ),
    run: (script, args, env) => start(script, args, env).ended,
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}
