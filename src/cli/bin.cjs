#!/usr/bin/env node
/**
 * The `caretaker` command. Plain JavaScript, because it runs before anything is installed or built. In a
 * checkout, it first makes sure that the build is current.
 *
 * CommonJS, because Node loads what it needs for modules only when a module is imported: some 5 of the 68 ms of
 * `caretaker --help`.
 */
const { existsSync, readFileSync } = require('node:fs');
const { SourceMap } = require('node:module');
const { basename, join, sep } = require('node:path');
const { useCompiled } = require('./compiled.cjs');

const minNode = [20, 19];
const root = join(__dirname, '../..');

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < minNode[0] || (major === minNode[0] && minor < minNode[1])) {
  fail(`Caretaker needs Node ${minNode.join('.')} or newer; this is ${process.versions.node}.`);
}
void start();

async function start() {
  const folder = isCheckout() ? await currentFolder() : shippedFolder();
  useCompiled();

  // The reader of our output may stop early (`| head`): the work continues, and its exit code still counts.
  // When output is lost for another reason, such as a full disk, the exit code is not 0.
  let lost;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (error.code !== 'EPIPE') lost ??= error;
    });
  }

  nameSources(folder);
  const { main } = require(join(folder, 'main.cjs'));
  const code = await main(process.argv.slice(2), process);
  // Flush all output, then exit even if a handle is still open.
  const written = (stream) => new Promise((resolve) => stream.write('', resolve));
  await Promise.all([written(process.stdout), written(process.stderr)]);
  if (lost !== undefined) {
    process.stderr.write(`The output could not be written (${lost.code}), so it is incomplete.\n`);
  }
  process.exit(lost !== undefined && code === 0 ? 1 : code);
}

function isCheckout() {
  return existsSync(join(__dirname, 'main.ts'));
}

function shippedFolder() {
  const { folder } = JSON.parse(readFileSync(join(root, 'dist/current.json'), 'utf8'));
  return join(root, 'dist', folder);
}

/** The folder of the build of the current source, which is made if there is none. */
async function currentFolder() {
  if (!existsSync(join(root, 'node_modules')))
    fail('The npm packages are not installed. Run "npm run setup" first.');
  const { currentBuild, fingerprintOf, useBuild } = require('../../scripts/current-build.cjs');
  const folder = currentBuild(join(root, 'dist'), fingerprintOf(root)) ?? (await build());
  useBuild(folder);
  return folder;
}

async function build() {
  const { ensureBuild } = await import('../../scripts/build.mjs');
  const say = (line) => process.stderr.isTTY && process.stderr.write(`${line}\n`);
  const made = await ensureBuild({ say });
  if (!made.ok) fail(`${made.why}\n${made.output}`.trimEnd());
  return made.folder;
}

/**
 * Lets stack traces name the source. The map of a file is read when the first error of that file is shown:
 * `--enable-source-maps` would read those of all files at the start.
 */
function nameSources(folder) {
  // As compiled code names it: where it was built.
  const build = `${sep}${basename(folder)}${sep}`;
  const maps = new Map();
  const mapOf = (file) => {
    if (!maps.has(file))
      maps.set(file, new SourceMap(JSON.parse(readFileSync(join(folder, `${file}.map`), 'utf8'))));
    return maps.get(file);
  };
  const placeOf = (frame) => {
    const file = frame.getFileName()?.split(build)[1];
    if (file === undefined) return `${frame}`;
    try {
      const found = mapOf(file).findEntry(frame.getLineNumber() - 1, frame.getColumnNumber() - 1);
      const place = `${found.originalSource}:${found.originalLine + 1}:${found.originalColumn + 1}`;
      const name = frame.getFunctionName();
      return name ? `${name} (${place})` : place;
    } catch {
      return `${frame}`;
    }
  };
  Error.prepareStackTrace = (error, frames) =>
    [`${error}`, ...frames.map((frame) => `    at ${placeOf(frame)}`)].join('\n');
}
