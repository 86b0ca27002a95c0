/** A small checkout in a temporary folder, with the real launcher and set-up and a source of three lines. */
import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Checkout {
  dir: string;
  /** Replaces `src/cli/main.ts`: the body of its `main(argv)`. */
  writeMain(body: string): Promise<void>;
  /** Runs `src/cli/bin.mjs` or one of `scripts/*.mjs`, to its end. */
  run(script: string, args?: string[], env?: NodeJS.ProcessEnv): Promise<Ended>;
  remove(): Promise<void>;
}

export async function makeCheckout(): Promise<Checkout> {
  const dir = await mkdtemp(join(tmpdir(), 'caretaker-checkout-'));
  await mkdir(join(dir, 'src/cli'), { recursive: true });
  await mkdir(join(dir, 'jobs'));
  await mkdir(join(dir, 'scripts'));
  await mkdir(join(dir, 'node_modules/.bin'), { recursive: true });
  const scripts = ['build', 'set-up', 'system-packages'].map((name) => `scripts/${name}.mjs`);
  const settings = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
  for (const file of ['src/cli/bin.mjs', ...scripts, ...settings, 'node_modules/.package-lock.json']) {
    await cp(join(root, file), join(dir, file));
  }
  for (const name of ['typescript', '@types']) {
    await symlink(join(root, 'node_modules', name), join(dir, 'node_modules', name));
  }
  return {
    dir,
    writeMain: (body) =>
      writeFile(
        join(dir, 'src/cli/main.ts'),
        `export async function main(_argv: string[]): Promise<number> {\n${body}\n}\n`,
      ),
    run: (script, args = [], env = {}) =>
      runToEnd(join(dir, script === 'bin.mjs' ? 'src/cli' : 'scripts', script), args, env),
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}

async function runToEnd(script: string, args: string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  const child = spawn(process.execPath, [script, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const ended: Ended = { code: null, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    ended.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    ended.stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ ...ended, code }));
  });
}
