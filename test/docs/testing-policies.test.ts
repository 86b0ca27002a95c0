/** The page about tests of policies: its examples run, and its tables have every key. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { loadTests } from '../../src/offline/tests/load-tests.ts';
import { runTest } from '../../src/offline/tests/run-test.ts';
import { PolicyTest } from '../../src/offline/tests/test-file.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/testing-policies.md'), 'utf8');

test('every file of tests that is shown can be read, and its tests pass', async () => {
  const registry = await loadJobs();
  const folders = ['config/policies', 'config/examples'].map((dir) => loadPolicies({ dir, registry }));
  const loaded = { policies: folders.flatMap(({ policies }) => policies), broken: [] };
  const folder = mkdtempSync(join(tmpdir(), 'caretaker-docs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = [...page.matchAll(/^```yaml\n(tests:[\s\S]*?)^```/gm)].map(([, text = ''], at) => {
    const file = join(folder, `${at}.yaml`);
    writeFileSync(file, text);
    return file;
  });

  const { tests, findings } = loadTests(files, loaded);

  expect(findings).toEqual([]);
  expect(tests.length).toBeGreaterThan(0);
  for (const one of tests)
    expect(await runTest(one, { registry, budget: { requestsPerMinute: 200, reserve: 0.1 } })).toEqual({
      differences: [],
    });
});

test('the table of what is expected has every key, in the order of the schema', () => {
  const [, section = ''] = page.split('### What is expected');
  const told = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(([, key]) => key);
  expect(told).toEqual(Object.keys(PolicyTest.shape.expect.shape));
});
