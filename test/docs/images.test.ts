/** The pictures of the README: `npm run screens -- --readme` makes them. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { MAX_IMAGE_BYTES, readmeImages } from '../screens/readme.ts';

const root = resolve(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const shown = [...readme.matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)].map(([, text = '', path = '']) => ({
  text,
  path,
}));

test('each picture of the README says what it shows, is there, and is small enough to be loaded at once', () => {
  expect(shown.map(({ path }) => path)).toEqual(
    Object.keys(readmeImages).map((file) => `docs/images/${file}`),
  );
  for (const { text, path } of shown) {
    expect(text.length).toBeGreaterThan(20);
    expect(existsSync(join(root, path))).toBe(true);
    expect(statSync(join(root, path)).size).toBeLessThanOrEqual(MAX_IMAGE_BYTES);
  }
});
