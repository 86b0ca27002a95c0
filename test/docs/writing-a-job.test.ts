/** The job on docs/writing-a-job.md. The long tests follow the whole page in a copy of this checkout. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { AnyJob } from '../../src/job/job.ts';
import { createRegistry } from '../../src/job/registry.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { code, root, shown } from './job-page.ts';

test('the job and the test on the page have under sixty lines', () => {
  expect(code).toEqual(['jobs/tag-by-php-version.ts', 'test/jobs/tag-by-php-version.test.ts']);
  const texts = shown.filter(({ file }) => code.includes(file)).map(({ text }) => text);
  const lines = texts.flatMap((text) => text.trimEnd().split('\n'));
  expect(lines.length + code.length).toBeLessThan(60);
});

test('the policy on the page can be loaded for this job', async () => {
  const checkout = mkdtempSync(join(tmpdir(), 'caretaker-job-page-'));
  onTestFinished(() => rmSync(checkout, { recursive: true, force: true }));
  for (const part of ['src', 'node_modules']) symlinkSync(join(root, part), join(checkout, part));
  for (const folder of ['jobs', 'test/jobs', 'config/policies'])
    mkdirSync(join(checkout, folder), { recursive: true });
  for (const { file, text } of shown) writeFileSync(join(checkout, file), text);
  const jobs: Record<string, AnyJob> = await import(join(checkout, 'jobs/tag-by-php-version.ts'));
  const registry = createRegistry(Object.values(jobs));

  const { policies, findings } = loadPolicies({
    dir: checkout,
    files: [join(checkout, 'config/policies/php-tags.yaml')],
    registry,
  });

  expect(findings).toEqual([]);
  expect(policies.map(({ name, job }) => [name, job])).toEqual([['php-tags', 'tag-by-php-version']]);
});
