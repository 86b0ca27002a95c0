#!/usr/bin/env node
/**
 * The `caretaker` command. Plain JavaScript, because it runs before anything is installed or built. In a
 * checkout, it first makes sure that the build is current.
 */
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { basename, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { useCompiled } from './compiled.mjs';

const minNode = [20, 19];
const here = (path) => new URL(path, import.meta.url);

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < minNode[0] || (major === minNode[0] && minor < minNode[1])) {
  fail(`Caretaker needs Node ${minNode.join('.')} or newer; this is ${process.versions.node}.`);
}
let folder;
if (existsSync(here('main.ts'))) {
  if (!existsSync(here('../../node_modules')))
    fail('The npm packages are not installed. Run "npm run setup" first.');
  const { ensureBuild, useBuild } = await import('../../scripts/build.mjs');
  const say = (line) => process.stderr.isTTY && process.stderr.write(`${line}\n`);
  const build = await ensureBuild({ say });
  if (!build.ok) fail(`${build.why}\n${build.output}`.trimEnd());
  folder = build.folder;
  useBuild(build.folder);
} else {
  const { folder: name } = JSON.parse(readFileSync(here('../../dist/current.json'), 'utf8'));
  folder = fileURLToPath(here(`../../dist/${name}`));
}
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
const { main } = module.createRequire(import.meta.url)(`${folder}/main.cjs`);
const code = await main(process.argv.slice(2), process);
// Flush all output, then exit even if a handle is still open.
const written = (stream) => new Promise((resolve) => stream.write('', resolve));
await Promise.all([written(process.stdout), written(process.stderr)]);
if (lost !== undefined) {
  process.stderr.write(`The output could not be written (${lost.code}), so it is incomplete.\n`);
}
process.exit(lost !== undefined && code === 0 ? 1 : code);

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
      maps.set(file, new module.SourceMap(JSON.parse(readFileSync(join(folder, `${file}.map`), 'utf8'))));
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
