/**
 * The compiled code beside each file of a build, which V8 loads in place of compiling the file again. V8 refuses what
 * another version of it, or one with other flags, has compiled; the file is then compiled as always.
 */
const { isAscii } = require('node:buffer');
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname } = require('node:path');
const { Script } = require('node:vm');

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
const compiled = (source, path) => scriptOf(source, path).createCachedData();

/** From now on, `require` uses the compiled code of each `.cjs` file that has it. */
function useCompiled() {
  const { extensions } = require;
  extensions['.cjs'] = (loaded, path) => {
    const code = compiledOf(path);
    if (code === undefined) return extensions['.js'](loaded, path);
    const bytes = readFileSync(path);
    const source = bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
    const load = scriptOf(source, path, code).runInThisContext();
    load.call(loaded.exports, loaded.exports, createRequire(path), loaded, path, dirname(path));
  };
}

function compiledOf(path) {
  try {
    return readFileSync(`${path}.compiled`);
  } catch {
    return undefined;
  }
}

module.exports = { compiled, useCompiled };
