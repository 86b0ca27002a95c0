/** The JSON Schema of `caretaker.yaml` and the command that reads it agree on the form of a file. */
import { expect, test } from 'vitest';
import { expectAgreement } from '../policy/mutations/agreement.ts';
import { judgeSettings, settingsTexts } from './settings-judge.ts';

const judge = judgeSettings();

test('the schema accepts the configuration that we ship, one with every key, and an empty one', () => {
  for (const text of [...settingsTexts, '# nothing yet\n'])
    expect({ text, ...judge(text) }).toMatchObject({ valid: true, findings: [] });
});

test('the schema and the reader agree on 30 changed files', () => {
  expectAgreement(judge, settingsTexts, 30);
});
