/** The JSON Schema of test files and the command that reads them agree on the form of a file. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadJobs } from '../../src/app/jobs.ts';
import { loadTests, testFilesIn } from '../../src/offline/tests/load-tests.ts';
import { testFileJsonSchema } from '../../src/offline/tests/test-file.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { expectAgreement, judgeBy } from '../policy/mutations/agreement.ts';

const CHANGED = Number(process.env['CARETAKER_TEST_FILES'] ?? 500);
const registry = await loadJobs();
const loaded = [
  loadPolicies({ dir: 'config/policies', registry }),
  loadPolicies({ dir: 'config/examples', registry }),
];
const policies = { policies: loaded.flatMap((one) => one.policies), broken: [] };
const texts = testFilesIn('config/tests').map((file) => readFileSync(file, 'utf8'));

const judge = judgeBy(
  testFileJsonSchema(),
  (file) => loadTests([file], policies, () => ({ ...policies, findings: [] })).findings,
);

test('the schema accepts the tests that we ship', () => {
  expect(texts.length).toBeGreaterThan(10);
  for (const text of texts) expect({ text, ...judge(text) }).toMatchObject({ valid: true, findings: [] });
});

test(`the schema and the reader agree on ${CHANGED} changed files`, () => {
  expectAgreement(judge, texts, CHANGED);
}, 3_600_000);
