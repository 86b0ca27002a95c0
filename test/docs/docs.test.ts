/** Compares the docs with the code: tables are correct, links have targets, named files exist, examples work. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { configChanges } from '../../src/policy/config-watcher.ts';
import { runStatuses } from '../../src/run/run.ts';
import type { Settings } from '../../src/settings/settings.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const pages = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.md') && !/^(node_modules|dist|\.)/.test(file),
);

test('the README explains every status in which a run can end or wait', () => {
  const explained = [...read('README.md').matchAll(/^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \|/gm)].flatMap(
    ([, cell = '']) => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, status]) => status),
  );
  const passing = ['queued', 'planning', 'running'];
  expect(explained.sort()).toEqual(runStatuses.filter((status) => !passing.includes(status)).sort());
});

/** The anchor of a rendered heading: without code marks and punctuation, with hyphens for spaces. */
const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const anchorsOf = (page: string): Set<string | undefined> => {
  const text = read(page).replace(/^```[\s\S]*?^```/gm, '');
  return new Set([
    ...[...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => slugOf(heading)),
    ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id),
  ]);
};

test('every link to a file or to a heading has a target', () => {
  const dead = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
      .filter(([, target = '', anchor]) => {
        const file = target === '' ? page : join(dirname(page), target);
        if (!existsSync(join(root, file))) return true;
        return anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).has(anchor);
      })
      .map(([link]) => `${page}: ${link}`),
  );
  expect(dead).toEqual([]);
});

test('a file of the npm package links to files that are in it', () => {
  const { files: patterns } = JSON.parse(read('package.json')) as { files: string[] };
  const isIn = (path: string, list: readonly string[]) =>
    list.some((one) => path === one || path.startsWith(`${one}/`));
  const left = patterns.filter((one) => one.startsWith('!')).map((one) => one.slice(1));
  const packed = ['README.md', 'LICENSE', ...patterns.filter((one) => !one.startsWith('!'))];
  const isPacked = (path: string) => isIn(path, packed) && !isIn(path, left);
  const dead = pages
    .filter(isPacked)
    .flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:)([^)#\s]+)/g)]
        .filter(([, target = '']) => !isPacked(join(dirname(page), target)))
        .map(([link]) => `${page}: ${link}`),
    );
  expect(pages.filter(isPacked).length).toBeGreaterThan(30);
  expect(dead).toEqual([]);
  for (const page of ['docs/performance.md', 'docs/adr/README.md', 'src/README.md'])
    expect(isPacked(page)).toBe(false);
});

test('the entry of the next release in the changelog is short enough to be read', () => {
  const [, entry = ''] = /^## Unreleased\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(read('CHANGELOG.md')) ?? [];
  expect(entry).not.toBe('');
  expect(entry.split('\n').length).toBeLessThanOrEqual(80);
});

/** Every file of the project, relative to its folder. */
const files = ['src', 'jobs', 'test', 'scripts'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
);

test('the README of the records names each of its files', () => {
  const page = read('src/records/README.md');
  const own = files.filter((file) => /^src\/records\/(?:backup\/)?[\w-]+\.ts$/.test(file));
  expect(own.length).toBeGreaterThan(40);
  expect(own.filter((file) => !page.includes(`\`${file.split('/').at(-1)}\``))).toEqual([]);
});

/** Where the files of a page are: a room and its tests for the README of a room, else everywhere. */
const placesOf = (page: string): string[] => {
  const [, room] = /^src\/(\w+)\/README\.md$/.exec(page) ?? [];
  return room === undefined ? [''] : [`src/${room}/`, `test/${room}/`];
};

test('every source file that a page names exists', () => {
  const named = pages
    .filter((page) => page !== 'CHANGELOG.md')
    .flatMap((page) =>
      [...read(page).matchAll(/`([\w./-]+\.(?:ts|tsx|mjs|css))`/g)].map(([, path = '']) => ({ page, path })),
    );
  expect(named.length).toBeGreaterThan(200);
  const missing = named.filter(({ page, path }) => {
    if (path.startsWith('../')) return !existsSync(join(root, dirname(page), path));
    const places = path.includes('/') ? [''] : placesOf(page);
    return !files.some(
      (file) => `/${file}`.endsWith(`/${path}`) && places.some((place) => file.startsWith(place)),
    );
  });
  expect(missing).toEqual([]);
});

test('every page of docs can be reached from the README, or from CONTRIBUTING.md', () => {
  const reached = new Set(['README.md', 'CONTRIBUTING.md']);
  for (const page of reached)
    for (const [, target = ''] of read(page).matchAll(/\]\((?!https?:)([^)#\s]+\.md)/g)) {
      const file = join(dirname(page), target);
      if (existsSync(join(root, file))) reached.add(file);
    }
  expect(pages.filter((page) => page.startsWith('docs/') && !reached.has(page))).toEqual([]);
});

test('the pages about the configuration name the settings that apply without a restart', () => {
  const allDiffer = new Proxy({}, { get: (_, key) => key }) as Settings;
  const { live } = configChanges({} as Settings, allDiffer);
  const named = new Intl.ListFormat('en-GB', { style: 'long' }).format(live.map((key) => `\`${key}\``));
  for (const page of ['config/README.md', 'docs/configuration.md'])
    expect(read(page).replace(/\s+/g, ' ')).toMatch(new RegExp(`[Cc]hanges of ${named}`));
});
