/** The tables of keys are generated from the descriptions in the code; `npm run docs` writes them. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { type Key, keysOf, type Schema } from '../../src/cli/explain/schema-keys.ts';
import { policyEntryJsonSchema, policyFileJsonSchema } from '../../src/policy/policy-file-schema.ts';
import { configValuesJsonSchema } from '../../src/settings/config-file.ts';
import { row, withRows } from './table.ts';

const rowOf = ({ path, type, standard, text }: Key): string =>
  row([`\`${path}\``, type, standard, text].map((cell) => cell.replaceAll('|', '\\|')));

const rowsOf = (schema: object) => [...new Set(keysOf(schema as Schema, '').map(rowOf))];

/** The keys without a description, with their paths. */
const undescribed = ({ properties = {}, items }: Schema, path: string): string[] => [
  ...(items ? undescribed(items, `${path}[]`) : []),
  ...Object.entries(properties).flatMap(([key, inner]) => [
    ...(inner.description ? [] : [`${path}.${key}`]),
    ...undescribed(inner, `${path}.${key}`),
  ]),
];

test.each([
  ['the configuration', configValuesJsonSchema()],
  ['a policy', policyEntryJsonSchema()],
])('every key of %s has a description', (_, schema) => {
  expect(undescribed(schema as Schema, '')).toEqual([]);
});

test('docs/configuration.md describes every key as the code does', async () => {
  const { vars, defaults, policies } = policyFileJsonSchema(await loadJobs()).properties;
  const list = { ...policies, items: { type: 'object' } };
  const file = { vars, defaults: { ...defaults, type: 'object', properties: {} }, policies: list };
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/configuration.md'), 'utf8');
  const tables = [
    ['## `config/caretaker.yaml`', rowsOf(configValuesJsonSchema())],
    ['## `config/policies/*.yaml`', rowsOf({ properties: file, required: ['policies'] })],
    ['of `policies` has these keys:', rowsOf(policyEntryJsonSchema())],
  ] as const;
  const written = tables.reduce((text, [head, rows]) => withRows(text, head, rows), page);
  await expect(written).toMatchFileSnapshot('../../docs/configuration.md');
});
