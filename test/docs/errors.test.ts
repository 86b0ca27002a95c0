/** Compares docs/errors.md with the code: no code, reason or check is missing on either side. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { exit, explain } from '../../src/cli/exit.ts';
import type { Terminal } from '../../src/cli/output/terminal.ts';
import { CaretakerError } from '../../src/errors.ts';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/errors.md'), 'utf8');

const sources = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => readFileSync(join(root, folder, file), 'utf8'));

/** The part of the page under a heading, up to the next one of the same level. */
const under = (heading: string): string => page.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';

/** The cells of the rows whose first cell is a code, each in its own anchor. */
const rowsUnder = (heading: string): string[][] =>
  [...under(heading).matchAll(/^\| (?:<a id="([\w-]+)"><\/a>)?`([\w ]+|[a-z-]+)` \| (.*) \|$/gm)].map(
    ([, anchor, code = '', cells = '']) => {
      if (anchor !== undefined) expect(anchor).toBe(code);
      return [code, ...cells.split(' | ')];
    },
  );

class Example extends CaretakerError {
  constructor(readonly code: string) {
    super('An example.');
  }
}

test('every error code of the code is on the page, once, with its exit code', () => {
  const declared = ['src', 'jobs']
    .flatMap(sources)
    .flatMap((text) =>
      [...text.matchAll(/readonly code(?:: [^=;]+)? = '([A-Z_]+)'/g)].map(([, code = '']) => code),
    );
  const terminal: Partial<Terminal> = { paint: (_, text) => text, message: () => {} };
  const expected = [...new Set(declared)].map((code) => [
    code,
    String(explain(new Example(code), terminal as Terminal)),
  ]);

  const told = rowsUnder('Error codes').map(([code, exitCode]) => [code, exitCode]);

  expect(told.sort()).toEqual(expected.sort());
});

test('every exit code is on the page', () => {
  const told = [...under('Exit codes').matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  expect(told).toEqual(Object.values(exit));
});

test('every reason is on the page with the text of the code, and with what to do', async () => {
  const { reasons } = await loadJobs();
  const rows = rowsUnder('Reasons');
  expect(Object.fromEntries(rows.map(([code, means]) => [code, means]))).toEqual(
    Object.fromEntries([...reasons].map(([code, { text }]) => [code, text])),
  );
  expect(rows.filter(([, , action = '']) => action === '')).toEqual([]);
});

test('the page names every reason for which a retry is suggested', async () => {
  const { reasons } = await loadJobs();
  const [, list = ''] = /may be temporary: ([^.]*)\./.exec(page) ?? [];
  const named = [...list.matchAll(/`([a-z-]+)`/g)].map(([, code]) => code);
  expect(named.sort()).toEqual(
    [...reasons].flatMap(([code, { retryable }]) => (retryable ? [code] : [])).sort(),
  );
});

test('every check of doctor is on the page', () => {
  const files = [
    'src/cli/commands/doctor.ts',
    'src/cli/doctor-checks.ts',
    'src/cli/output/service-description.ts',
  ];
  const checks = files.flatMap((file) =>
    [
      ...readFileSync(join(root, file), 'utf8').matchAll(
        /\bwhat(?: =|:) ['`]([a-zA-Z ]+?)(?: "\$\{[\w.]+\}")?['`]/g,
      ),
    ].map(([, check]) => check),
  );
  expect(rowsUnder('Checks of').map(([check]) => check)).toEqual(
    expect.arrayContaining([...new Set(checks)]),
  );
  expect(rowsUnder('Checks of')).toHaveLength(new Set(checks).size);
});

test('every code that the API answers is on the page', () => {
  const answered = new Set(
    sources('src/dashboard').flatMap((text) =>
      [
        ...text.matchAll(/\b(?:refuse|say)\(\s*c,\s*\d+,\s*'(\w+)'|^ {2}\d{3}: '(\w+)'|\?\? '(PROBLEM)'/gm),
      ].map(([, refused, byStatus, other]) => refused ?? byStatus ?? other ?? ''),
    ),
  );
  const own = rowsUnder('Answers of').map(([code = '']) => code);
  const known = new Set([...own, ...rowsUnder('Error codes').map(([code]) => code)]);
  expect([...answered].filter((code) => !known.has(code))).toEqual([]);
  expect(own.filter((code) => !answered.has(code))).toEqual([]);
});
