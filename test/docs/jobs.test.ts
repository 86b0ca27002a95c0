/**
 * Compares the pages in `docs/jobs/` with the jobs: their options with the texts of the code, their reasons
 * with the tests.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { loadJobs } from '../../src/app/load-jobs.ts';
import type { Reasons } from '../../src/run/reasons.ts';
import { withRows } from './table.ts';

const folder = resolve(import.meta.dirname, '../../docs/jobs');
const tests = resolve(import.meta.dirname, '../jobs');

interface Shape {
  description?: string;
  properties?: Record<string, Shape>;
}

/** Each option with its description; a nested one as `spread.from`. */
const optionsIn = (shape: Shape, within = ''): [string, string | undefined][] =>
  Object.entries(shape.properties ?? {}).flatMap(([name, inner]) => [
    [`${within}${name}`, inner.description] as [string, string | undefined],
    ...optionsIn(inner, `${within}${name}.`),
  ]);

test('the page of a job describes each of its options with the text of the code; `npm run docs` writes it', async () => {
  const registry = await loadJobs();
  for (const file of readdirSync(folder)) {
    const job = registry.get(file.replace(/\.md$/, ''));
    const options = job && optionsIn(z.toJSONSchema(job.options, { io: 'input' }) as Shape);
    const rows = options?.map(([name, text]) => `| \`${name}\` | ${text} |`) ?? [];
    const page = readFileSync(join(folder, file), 'utf8');
    await expect(withRows(page, '<!-- options: ', rows)).toMatchFileSnapshot(join(folder, file));
  }
});

/** The reasons in the tables of a page. */
const reasonsTold = (page: string, reasons: Reasons): string[] => {
  const rows = readFileSync(join(folder, page), 'utf8').match(/^\|.*\|$/gm) ?? [];
  const codes = rows.flatMap((row) => [...row.matchAll(/`([a-z-]+)`/g)].map(([, code = '']) => code));
  return [...new Set(codes)].filter((code) => reasons.has(code));
};

/** The tests of a job, without comments. */
const testsOf = (job: string): string =>
  readdirSync(join(tests, job))
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(tests, job, file), 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, ''))
    .join('\n');

test('for every reason on the page of a job, a test of the job expects it', async () => {
  const { reasons } = await loadJobs();
  const untested = readdirSync(folder).flatMap((page) => {
    const job = page.replace(/\.md$/, '');
    const expected = testsOf(job);
    return reasonsTold(page, reasons)
      .filter((reason) => !expected.includes(`'${reason}'`))
      .map((reason) => `${job}: ${reason}`);
  });
  expect(untested).toEqual([]);
});
