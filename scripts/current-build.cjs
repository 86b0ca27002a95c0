/**
 * Which build is current, and who uses it. Every command in a checkout begins here, so nothing is loaded that only a
 * build needs.
 */
const {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} = require('node:fs');
const { hostname } = require('node:os');
const { basename, dirname, join } = require('node:path');

const sources = ['package.json', 'scripts/bundle.mjs', 'src', 'jobs'];

/**
 * Shows a state of the source, in lines. Takes a few milliseconds, since every command in a checkout does it.
 *
 * @param {string} root the checkout
 * @param {string[]} [also] files besides the source that the build depends on
 */
function fingerprintOf(root, also = []) {
  const lines = [process.version];
  const add = (path) => {
    const stats = statSync(`${root}/${path}`, { throwIfNoEntry: false });
    if (stats === undefined) return;
    // The names of a folder, in the order of the file system, which stays the same until one is added or removed.
    if (stats.isDirectory()) for (const name of readdirSync(`${root}/${path}`)) add(`${path}/${name}`);
    else lines.push(`${path} ${stats.mtimeMs} ${stats.size}`);
  };
  for (const name of [...sources, ...also]) add(name);
  return lines.join('\n');
}

/** The name of the folder and the fingerprint of the last build, if there is one. */
function lastBuild(dist) {
  try {
    const last = JSON.parse(readFileSync(join(dist, 'current.json'), 'utf8'));
    return existsSync(join(dist, last.folder)) ? last : undefined;
  } catch {
    return undefined;
  }
}

/** The folder of the last build, if it is that of the source with this fingerprint. */
function currentBuild(dist, fingerprint) {
  const last = lastBuild(dist);
  return last?.fingerprint === fingerprint ? join(dist, last.folder) : undefined;
}

/**
 * Notes until its end that this process runs from a build, so that its folder stays: parts are loaded when they are first
 * needed, which may be days later.
 */
function useBuild(folder) {
  const notes = join(dirname(folder), '.users');
  const note = join(notes, [basename(folder), process.pid, hostname()].join('.'));
  try {
    mkdirSync(notes, { recursive: true });
    writeFileSync(note, '');
  } catch {
    // A checkout that only its owner can write, who is also the one who builds.
    return;
  }
  process.on('exit', () => rmSync(note, { force: true }));
}

module.exports = { currentBuild, fingerprintOf, lastBuild, useBuild };
