/**
 * Preloaded into a process (`node --import`): writes down which packages it loads, one a line, into the file
 * that LOADED names. What is imported is seen by a hook, what is required by the cache of modules at the end.
 */
import { appendFileSync } from 'node:fs';
import { createRequire, register } from 'node:module';

const file = process.env['LOADED'];
const packageOf = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;

register(
  `data:text/javascript,${encodeURIComponent(`
    import { appendFileSync } from 'node:fs';
    export async function load(url, context, next) {
      const [, name] = ${packageOf}.exec(url) ?? [];
      if (name) appendFileSync(${JSON.stringify(file)}, name + '\\n');
      return next(url, context);
    }`)}`,
);
process.on('exit', () => {
  const names = Object.keys(createRequire(import.meta.url).cache).map((path) => packageOf.exec(path)?.[1]);
  appendFileSync(file, `${names.filter(Boolean).join('\n')}\n`);
});
