/**
 * Preloaded into a process (`node --import`): writes the packages that it loads, one per line, into the file
 * named by LOADED. A hook sees imports; the module cache at the end shows required packages.
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
