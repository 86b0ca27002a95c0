/** The files, folders and scripts that CONTRIBUTING.md names exist. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');

test('every file and folder that a recipe names exists', () => {
  const named = [...page.matchAll(/`((?:src|test|jobs|docs|scripts)\/[\w./-]+)`/g)].map(
    ([, path = '']) => path,
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('every new file of a recipe is in a folder that exists', () => {
  const named = [...page.matchAll(/`((?:src|test|jobs|docs)\/[\w./-]*)<[^`]*`/g)].map(
    ([, path = '']) => path,
  );
  const folders = named.map((path) => path.replace(/[^/]*$/, ''));
  expect(folders.length).toBeGreaterThan(8);
  expect(folders.filter((folder) => !existsSync(join(root, folder)))).toEqual([]);
});

test('every npm script that it names exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const named = [...page.matchAll(/npm run ([\w-]+)/g)].map(([, name = '']) => name);
  for (const name of new Set(named)) expect(scripts).toHaveProperty([name]);
});
