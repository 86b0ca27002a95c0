/**
 * The JSON Schema and `validate` agree on the form of a policy file: its types, keys, names and patterns.
 *
 * What compares values, needs the settings, other files or the type of an expression is not a matter of form.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { loadJobs } from '../../src/app/jobs.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { policyFileJsonSchema } from '../../src/policy/policy-file-schema.ts';
import { YamlFile } from '../../src/yaml/yaml-file.ts';
import { folderWith } from '../settings/folder.ts';
import { chance, changed, pick } from './mutations/changes.ts';
import { policyTexts } from './mutations/corpus.ts';

const CHANGED = Number(process.env['CARETAKER_TEST_FILES'] ?? 1000);

const registry = await loadJobs();
const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(
  policyFileJsonSchema(registry),
);
let file = '';
beforeEach(() => {
  file = join(folderWith({}), 'policies.yaml');
});

/** What the two say about a file; undefined when it is no YAML that we read. */
function judge(text: string) {
  const yaml = YamlFile.parse(file, text);
  if (!(yaml instanceof YamlFile)) return undefined;
  writeFileSync(file, text);
  const { findings } = loadPolicies({ dir: '.', files: [file], registry });
  const valid = isValid(yaml.value());
  const errors = (isValid.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  return { valid, errors, findings: findings.map(({ path, message, form }) => ({ path, message, form })) };
}

type Judged = Exclude<ReturnType<typeof judge>, undefined>;

/** The schema accepts what `validate` refuses for its form, or refuses what `validate` accepts. */
const isDisagreement = ({ valid, findings }: Judged): boolean =>
  valid ? findings.some(({ form }) => form) : findings.length === 0;

test('the schema accepts every policy file that we show and ship', () => {
  const texts = policyTexts();
  expect(texts.length).toBeGreaterThan(10);
  for (const text of texts) expect({ text, ...judge(text) }).toMatchObject({ valid: true, findings: [] });
});

test(`the schema and validate agree on ${CHANGED} changed files`, () => {
  const below = chance(20_261_122);
  const originals = policyTexts().map((text) => {
    const yaml = YamlFile.parse(file, text);
    return yaml instanceof YamlFile ? yaml.value() : {};
  });
  const counts = { accepted: 0, refused: 0, refusedForOtherReasons: 0 };
  const found: object[] = [];
  for (let i = 0; i < CHANGED; i += 1) {
    const text = stringify(changed(pick(below, originals), below));
    const judged = judge(text);
    if (!judged) continue;
    if (isDisagreement(judged)) found.push({ text, ...judged });
    if (!judged.valid) counts.refused += 1;
    else if (judged.findings.length === 0) counts.accepted += 1;
    else counts.refusedForOtherReasons += 1;
  }
  expect(found.slice(0, 5)).toEqual([]);
  // The changes are of all kinds, so that the comparison means something.
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(CHANGED / 50);
}, 3_600_000);
