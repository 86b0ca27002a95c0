/** The glossary: each term once, in order, and explained with terms that have an entry of their own. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { outcomes, triggers } from '../../src/run/run.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/glossary.md'), 'utf8');
const rows = [...page.matchAll(/^\| <a id="([\w-]+)"><\/a>([\w -]+) \| (.+) \| (.*) \|$/gm)].map(
  ([, anchor, word = '', meaning = '', compare = '']) => ({ anchor, word, meaning, compare }),
);
const words = rows.map(({ word }) => word);

test('each term has one entry, in alphabetical order, with its own anchor', () => {
  expect(rows).toHaveLength(page.split('\n').filter((line) => line.startsWith('| <a')).length);
  expect(words).toEqual([...new Set(words)].sort());
  for (const { anchor, word } of rows) expect(anchor).toBe(word.replaceAll(' ', '-'));
});

test('a comparison names the product that it compares with', () => {
  for (const { compare } of rows) expect(compare).toMatch(/^$|^(T|K|B|Terraform): /);
});

test('every trigger of a run and every outcome of a target is named as in the code', () => {
  const meaningOf = (word: string) => rows.find((row) => row.word === word)?.meaning ?? '';
  for (const trigger of triggers) expect(meaningOf('trigger')).toContain(`\`${trigger}\``);
  for (const outcome of outcomes) expect(meaningOf('outcome')).toContain(`\`${outcome}\``);
});
