/** The JSON Schema of test files and the command that reads them agree on the form of a file. */
import { expect, test } from 'vitest';
import { expectAgreement } from '../policy/mutations/agreement.ts';
import { judgeTestFiles, testFileTexts } from './test-file-judge.ts';

const judge = judgeTestFiles();

test('the schema accepts the tests that we ship', () => {
  expect(testFileTexts.length).toBeGreaterThan(10);
  for (const text of testFileTexts)
    expect({ text, ...judge(text) }).toMatchObject({ valid: true, findings: [] });
});

test('the schema and the reader agree on 60 changed files', () => {
  expectAgreement(judge, testFileTexts, 60);
});
