/**
 * Hundreds of files with random changes, always the same ones: policies, `caretaker.yaml` and tests of policies. The
 * ordinary tests read some of each. `CARETAKER_TEST_FILES=50000` reads so many.
 */
import { test } from 'vitest';
import { judgeTestFiles, testFileTexts } from '../offline/test-file-judge.ts';
import { judgeSettings, settingsTexts } from '../settings/settings-judge.ts';
import { expectAgreement } from './mutations/agreement.ts';
import { expectBrokenFilesRead } from './mutations/broken-files.ts';
import { policyTexts } from './mutations/corpus.ts';
import { judgePolicies } from './mutations/policy-judge.ts';

const FILES = Number(process.env['CARETAKER_TEST_FILES'] ?? 200);
const HOUR_MS = 3_600_000;

test(`each of ${FILES} broken files is read within a second, and each error has a place`, {
  timeout: HOUR_MS,
}, () => {
  expectBrokenFilesRead(FILES);
});

test.each([
  ['policies', judgePolicies(), policyTexts()],
  ['the configuration', judgeSettings(), settingsTexts],
  ['tests of policies', judgeTestFiles(), testFileTexts],
] as const)(
  `the schema and the reader agree on ${FILES} changed files: %s`,
  { timeout: HOUR_MS },
  (_, judge, texts) => {
    expectAgreement(judge, texts, FILES);
  },
);
