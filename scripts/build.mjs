/**
 * Keeps `dist/` the build of the current source: a bundle of our code and most packages, made by esbuild.
 *
 * A build is a folder named by a hash of its content, and `dist/current.json` names the current one. It is replaced by
 * a rename, so no process starts from half a build. It also has the name, time and size of every source file, so that
 * checking it takes a few milliseconds. A process that runs from an older folder keeps it: see `useBuild` of
 * `current-build.cjs`, which is all that a command needs whose build is current.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compiled } from '../src/cli/compiled.cjs';
import { currentBuild, fingerprintOf, lastBuild } from './current-build.cjs';

const ownRoot = fileURLToPath(new URL('..', import.meta.url));
const program = (bundle, root) => bundle.bundleProgram(root);
/** A folder that was current a moment ago may be read by a process that has just started. */
const KEPT_MS = 60_000;
/** Whether a process of another machine or container still runs cannot be seen. */
const KEPT_ELSEWHERE_MS = 30 * 86_400_000;

/**
 * Builds if the build is not that of the current source.
 *
 * @param {object} options
 * @param {string} [options.root] the checkout
 * @param {string} [options.dist] the folder of its builds
 * @param {typeof program} [options.make] what is built
 * @param {string[]} [options.also] files besides the source that the build depends on
 * @param {(line: string) => void} [options.say] called when a build begins
 * @returns {Promise<{ ok: true, folder: string } | { ok: false, why: string, output: string }>} `folder` is that of
 * the build; `output` is that of esbuild, if it ran
 */
export async function ensureBuild({
  root = ownRoot,
  dist = join(root, 'dist'),
  make = program,
  also = [],
  say = () => {},
} = {}) {
  const fingerprint = fingerprintOf(root, also);
  const folder = currentBuild(dist, fingerprint);
  if (folder !== undefined) return { ok: true, folder };
  say('Building');
  try {
    // A folder that cannot be written is reported before the work.
    mkdirSync(dist, { recursive: true });
    const bundle = await make(await import('./bundle.mjs'), root);
    if (!bundle.ok) return { ok: false, why: 'The build failed:', output: bundle.output };
    return { ok: true, folder: writeBuild(dist, bundle.files, fingerprint) };
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND')
      return {
        ok: false,
        why: 'A package that builds is not installed. Run "npm run setup" first.',
        output: '',
      };
    if (error.code === undefined) throw error;
    const why = `The source is not built yet, and ${root} cannot be written (${error.code}): run "npm run setup" there as its owner.`;
    return { ok: false, why, output: '' };
  }
}

/**
 * Makes files the current build, and removes older ones that no process uses.
 *
 * @param {string} dist the folder of the builds
 * @param {{ path: string, contents: Uint8Array }[]} files
 * @returns the folder of the build
 */
export function writeBuild(dist, files, fingerprint) {
  const hash = createHash('sha256');
  hash.update(process.version);
  for (const { path, contents } of files) hash.update(`${path}\0${contents.length}\0`).update(contents);
  const folder = hash.digest('hex').slice(0, 16);
  const target = join(dist, folder);
  const before = lastBuild(dist);
  const fresh = join(dist, `new-${process.pid}-${Date.now()}`);
  for (const { path, contents } of files) {
    mkdirSync(dirname(join(fresh, path)), { recursive: true });
    writeFileSync(join(fresh, path), contents);
    if (path.endsWith('.cjs'))
      writeFileSync(
        join(fresh, `${path}.compiled`),
        compiled(`${Buffer.from(contents)}`, join(target, path)),
      );
  }
  try {
    renameSync(fresh, target);
  } catch (error) {
    // Another process has made the same build, and may already run it.
    rmSync(fresh, { recursive: true });
    if (!existsSync(target)) throw error;
  }
  if (before) utimesSync(join(dist, before.folder), new Date(), new Date());
  writeFileSync(`${fresh}.json`, JSON.stringify({ folder, fingerprint }));
  renameSync(`${fresh}.json`, join(dist, 'current.json'));
  removeUnused(dist, folder);
  return target;
}

function removeUnused(dist, current) {
  const kept = new Set([current, '.users', ...foldersInUse(join(dist, '.users'))]);
  for (const entry of readdirSync(dist, { withFileTypes: true })) {
    if (!entry.isDirectory() || kept.has(entry.name)) continue;
    const path = join(dist, entry.name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats && Date.now() - stats.mtimeMs > KEPT_MS) rmSync(path, { recursive: true, force: true });
  }
}

function foldersInUse(notes) {
  const names = existsSync(notes) ? readdirSync(notes) : [];
  return names.filter((name) => isInUse(join(notes, name))).map((name) => name.split('.')[0]);
}

function isInUse(note) {
  const [, id, ...host] = basename(note).split('.');
  const stats = statSync(note, { throwIfNoEntry: false });
  const isUsed =
    host.join('.') === hostname()
      ? isRunning(Number(id))
      : stats && Date.now() - stats.mtimeMs < KEPT_ELSEWHERE_MS;
  if (!isUsed) rmSync(note, { force: true });
  return isUsed;
}

function isRunning(id) {
  try {
    return process.kill(id, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const build = await ensureBuild();
  if (!build.ok) {
    process.stdout.write(`${build.why}\n${build.output}`);
    process.exitCode = 1;
  }
}
