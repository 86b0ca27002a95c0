/** The tables and sections of docs/api.md are generated from the contract; `npm run docs` writes them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { apiPage } from './api-page.ts';

const root = resolve(import.meta.dirname, '../..');
const page = apiPage();

test('docs/api.md shows every operation as the contract declares it', async () => {
  await expect(page).toMatchFileSnapshot('../../docs/api.md');
});

test('every operation has a heading under its section of the contract', () => {
  const headings = [...page.matchAll(/^(?:### (\S+)|#### (\S+)).*$/gm)];
  let section = '';
  const found = headings.flatMap(([, number, id]) => {
    section = number ?? section;
    return id === undefined ? [] : [[id, section]];
  });
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(Object.entries(operations).map(([id, { section }]) => [id, section])),
  );
});

test('every section of the specification that a comment names is on the page', () => {
  const anchors = new Set([...page.matchAll(/<a id="([\d.]+)">/g)].map(([, name]) => name));
  const dead = ['src', 'jobs', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(tsx?|md)$/.test(file))
      .flatMap((file) =>
        [
          ...readFileSync(join(root, folder, file), 'utf8').matchAll(
            /\b[Ss]pec (?:section )?(\d+(?:\.\d+)?)/g,
          ),
        ]
          .filter(([, section = '']) => !anchors.has(section))
          .map(([named]) => `${folder}/${file}: ${named}`),
      ),
  );
  expect(dead).toEqual([]);
});
