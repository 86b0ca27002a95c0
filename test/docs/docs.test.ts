/** Compares the docs with the code: tables are correct, links have targets, examples work. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { loadJobs } from '../../src/app/jobs.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { runStatuses } from '../../src/run/run.ts';

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

test('every policy shown in the docs can be loaded', async () => {
  const registry = await loadJobs();
  const folder = mkdtempSync(join(tmpdir(), 'caretaker-docs-'));
  const shown = pages.flatMap((page) =>
    [...read(page).matchAll(/^```yaml\n(policies:[\s\S]*?)^```/gm)].map(([, text = '']) => ({ page, text })),
  );
  expect(shown.length).toBeGreaterThan(0);
  for (const [at, { page, text }] of shown.entries()) {
    const file = join(folder, `${at}.yaml`);
    writeFileSync(file, text);
    const { findings } = loadPolicies({ dir: folder, files: [file], registry });
    expect({ page, findings: findings.map(({ message }) => message) }).toEqual({ page, findings: [] });
  }
});
