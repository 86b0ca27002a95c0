/** Preloaded into a process (`node --import`): writes the files that it loads, one per line, into the file named by LOADED. */
import { appendFileSync } from 'node:fs';
import { createRequire, register } from 'node:module';

const file = process.env['LOADED'];

// A hook sees what is imported; the cache at the end shows what was required.
register(
  `data:text/javascript,${encodeURIComponent(`
    import { appendFileSync } from 'node:fs';
    export async function load(url, context, next) {
      appendFileSync(${JSON.stringify(file)}, url.replace('file://', '') + '\\n');
      return next(url, context);
    }`)}`,
);
process.on('exit', () => {
  appendFileSync(file, `${Object.keys(createRequire(import.meta.url).cache).join('\n')}\n`);
});
