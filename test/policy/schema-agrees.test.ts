/**
 * The JSON Schema and `validate` agree on the form of a policy file: its types, keys, names and patterns.
 *
 * What compares values, needs the settings, other files or the type of an expression is not a matter of form.
 */
import { expect, test } from 'vitest';
import { expectAgreement } from './mutations/agreement.ts';
import { policyTexts } from './mutations/corpus.ts';
import { judgePolicies } from './mutations/policy-judge.ts';

const judge = judgePolicies();

test('the schema accepts every policy file that we show and ship', () => {
  const texts = policyTexts();
  expect(texts.length).toBeGreaterThan(10);
  for (const text of texts) expect({ text, ...judge(text) }).toMatchObject({ valid: true, findings: [] });
});

test('the schema and validate agree on 30 changed files', () => {
  expectAgreement(judge, policyTexts(), 30);
});
