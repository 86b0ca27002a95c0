/** Which tests could notice a change of a file: those that import it, the nearest first. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

/**
 * Tests that run what was built instead of the sources, that need a browser, or that take longer than all
 * others: they see no mutant, or not soon enough.
 */
const left =
  /^test\/((chaos|bench|docs|conformance|sandbox|cli|dashboard)\/|architecture)|cuts|daemon|embedded|once-anywhere|taking-over/;

/**
 * The test files that reach `file` by imports, nearest first; before others of one distance those that are
 * called like it.
 */
export function relatedTests(root) {
  const files = ['src', 'jobs', 'test'].flatMap((folder) => filesIn(root, folder));
  const importers = new Map();
  for (const file of files) {
    for (const imported of importsOf(root, file)) {
      importers.set(imported, [...(importers.get(imported) ?? []), file]);
    }
  }
  return (file) => {
    const distances = new Map([[file, 0]]);
    // A set goes on with what is added while one goes through it.
    for (const [one, distance] of distances) {
      for (const importer of importers.get(one) ?? []) {
        if (!distances.has(importer)) distances.set(importer, distance + 1);
      }
    }
    const name = basename(file, '.ts');
    const room = dirname(file).replace(/^src\//, '');
    const order = (test) => {
      const isNamesake = basename(test).startsWith(name);
      const isOfRoom = test.startsWith(`test/${room}/`);
      return distances.get(test) - (isNamesake ? 10 : 0) - (isOfRoom ? 5 : 0);
    };
    return [...distances.keys()]
      .filter((one) => one.endsWith('.test.ts') && !left.test(one))
      .sort((a, b) => order(a) - order(b) || (a < b ? -1 : 1));
  };
}

export const filesIn = (root, folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(folder, file));

function importsOf(root, file) {
  const text = readFileSync(join(root, file), 'utf8');
  // Jobs are found in their folder when a process begins: whatever opens a Caretaker uses them all.
  const jobs = file === 'src/app/load-jobs.ts' ? filesIn(root, 'jobs') : [];
  const named = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path]) =>
    relative(root, resolve(root, dirname(file), path)),
  );
  return [...named.filter((path) => existsSync(join(root, path))), ...jobs];
}
