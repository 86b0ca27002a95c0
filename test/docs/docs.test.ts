/** The docs are compared with the code: tables say what is, links lead somewhere, examples work. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { loadJobs } from '../../src/app/jobs.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { mayPass, type Reason, reasons } from '../../src/run/reasons.ts';
import { runStatuses } from '../../src/run/run.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const pages = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.md') && !/^(node_modules|dist|\.)/.test(file),
);

test('every reason is explained in docs/reasons.md in the very words of the code', () => {
  const rows = [...read('docs/reasons.md').matchAll(/^\| `([a-z-]+)` \| (.*) \|$/gm)].map(
    ([, code, text]) => [code, text],
  );
  expect(Object.fromEntries(rows)).toEqual(reasons);
});

test('docs/reasons.md names every reason for which a retry is advised', () => {
  const [, list = ''] = /may pass by itself: ([^.]*)\./.exec(read('docs/reasons.md')) ?? [];
  const named = [...list.matchAll(/`([a-z-]+)`/g)].map(([, code]) => code);
  expect(named.sort()).toEqual((Object.keys(reasons) as Reason[]).filter(mayPass).sort());
});

test('the README explains every status in which a run can end or stand still', () => {
  const explained = [...read('README.md').matchAll(/^\| (`[a-z]+`(?:, `[a-z]+`)*) \|/gm)].flatMap(
    ([, cell = '']) => [...cell.matchAll(/`([a-z]+)`/g)].map(([, status]) => status),
  );
  const passing = ['queued', 'planning', 'running'];
  expect(explained.sort()).toEqual(runStatuses.filter((status) => !passing.includes(status)).sort());
});

test('every link to a file leads to one', () => {
  const dead = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !existsSync(resolve(root, dirname(page), target)))
      .map((target) => `${page}: ${target}`),
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
