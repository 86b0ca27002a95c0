/**
 * The compiled code beside each file of a build, which V8 loads in place of compiling the file again. V8 refuses what
 * another version of it, or one with other flags, has compiled; the file is then compiled as always.
 */
import { isAscii } from 'node:buffer';
import { readFileSync } from 'node:fs';
import module from 'node:module';
import { dirname } from 'node:path';
import { Script } from 'node:vm';

const before = '(function (exports, require, module, __filename, __dirname) {';

/** @param {Buffer} [cachedData] what `compiled` has made of the same source */
const scriptOf = (source, filename, cachedData) =>
  new Script(`${before}${source}\n})`, {
    filename,
    cachedData,
    // Places in stack traces are those of the file.
    columnOffset: -before.length,
  });

/** The compiled code of a CommonJS file. `path` is what stack traces show. @returns {Buffer} */
export const compiled = (source, path) => scriptOf(source, path).createCachedData();

/** From now on, `require` uses the compiled code of each `.cjs` file that has it. */
export function useCompiled() {
  const { extensions } = module.createRequire(import.meta.url);
  extensions['.cjs'] = (loaded, path) => {
    const code = compiledOf(path);
    if (code === undefined) return extensions['.js'](loaded, path);
    const bytes = readFileSync(path);
    const source = bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
    const load = scriptOf(source, path, code).runInThisContext();
    load.call(loaded.exports, loaded.exports, module.createRequire(path), loaded, path, dirname(path));
  };
}

function compiledOf(path) {
  try {
    return readFileSync(`${path}.compiled`);
  } catch {
    return undefined;
  }
}
