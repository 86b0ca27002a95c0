/**
 * Keeps `dist/` the build of the current source.
 *
 * The build stores a fingerprint of every source file's name, time and size, so that checking it takes a few
 * milliseconds. A new build is made in a separate folder and replaces the old one as a whole, so that no
 * process starts from half of one. If it fails, the old one stays.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { argv, execPath, pid } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ownRoot = fileURLToPath(new URL('..', import.meta.url));
const sources = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'src', 'jobs'];

/**
 * Builds if the build is not that of the current source.
 *
 * @param {{ root?: string, say?: (line: string) => void }} options `say` is called when a build begins
 * @returns {Promise<{ ok: true, built: boolean } | { ok: false, why: string, output: string }>} `output` is
 * the output of the compiler, if it ran
 */
export async function ensureBuild({ root = ownRoot, say = () => {} } = {}) {
  const fingerprint = fingerprintOf(root);
  if (isCurrent(root, fingerprint)) return { ok: true, built: false };
  say('Building (tsc -p tsconfig.build.json)');
  const fresh = join(root, 'node_modules/.cache/caretaker', `build-${pid}-${Date.now()}`);
  try {
    mkdirSync(fresh, { recursive: true });
    const { code, output } = await compileAll(root, fresh);
    if (code !== 0) return { ok: false, why: 'The build failed:', output };
    writeFileSync(join(fresh, '.fingerprint'), fingerprint);
    // Another process may have finished the same build meanwhile, and may be starting it now.
    if (!isCurrent(root, fingerprint)) replace(join(root, 'dist'), fresh);
    return { ok: true, built: true };
  } catch (error) {
    if (error.code === undefined) throw error;
    const why = `The source is not built yet, and ${root} cannot be written (${error.code}): run "npm run setup" there as its owner.`;
    return { ok: false, why, output: '' };
  } finally {
    removeIfPossible(fresh);
  }
}

/** A leftover folder does no harm, and a folder that cannot be written was already reported. */
function removeIfPossible(folder) {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {}
}

function isCurrent(root, fingerprint) {
  const stamp = join(root, 'dist/.fingerprint');
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint;
}

/** Identifies a state of the source. */
export function fingerprintOf(root) {
  const hash = createHash('sha256');
  for (const source of sources) addTo(hash, join(root, source));
  return hash.digest('hex');
}

function addTo(hash, path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory()) {
    for (const name of readdirSync(path).sort()) addTo(hash, join(path, name));
  } else if (stats !== undefined) {
    hash.update(`${path}\0${stats.mtimeMs}\0${stats.size}\n`);
  }
}

/** Compiles the programs, and apart from them the browser code of the dashboard, which has other globals. */
async function compileAll(root, outDir) {
  const client = 'src/dashboard/client';
  const results = await Promise.all([
    compile(root, 'tsconfig.build.json', outDir, ['--tsBuildInfoFile', join(outDir, '.tsbuildinfo')]),
    compile(root, client, join(outDir, client), ['--noEmit', 'false']),
  ]);
  const output = results.map((result) => result.output).join('');
  const failed = results.find(({ code }) => code !== 0);
  if (failed) return { code: failed.code, output };
  cpSync(join(root, client, 'styles'), join(outDir, client, 'styles'), { recursive: true });
  return { code: 0, output };
}

function compile(root, project, outDir, more) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const options = ['-p', project, '--outDir', outDir, ...more];
  return new Promise((resolve) => {
    const child = spawn(execPath, [tsc, ...options], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.on('error', (error) => resolve({ code: 1, output: error.message }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

/**
 * Replaces a folder with another one. Two steps, since a folder with content cannot be the target of a
 * rename.
 */
function replace(target, fresh) {
  const old = `${fresh}-old`;
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (existsSync(target)) renameSync(target, old);
      renameSync(fresh, target);
      return;
    } catch (error) {
      // node_modules on another disk, or a folder of an image's layer: it cannot be renamed.
      if (error.code === 'EXDEV') return copy(target, fresh);
      // Another process ran between the two steps: try again, over its result.
      if (attempt === 10 || !['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
    } finally {
      rmSync(old, { recursive: true, force: true });
    }
  }
}

/** Not atomic, but the fingerprint is written last: a process that checks meanwhile makes its own build. */
function copy(target, fresh) {
  rmSync(target, { recursive: true, force: true });
  const isFingerprint = (path) => basename(path) === '.fingerprint';
  cpSync(fresh, target, { recursive: true, filter: (path) => !isFingerprint(path) });
  copyFileSync(join(fresh, '.fingerprint'), join(target, '.fingerprint'));
}

if (argv[1] !== undefined && import.meta.url === pathToFileURL(argv[1]).href) {
  const build = await ensureBuild();
  if (!build.ok) {
    process.stdout.write(`${build.why}\n${build.output}`);
    process.exitCode = 1;
  }
}
