/** The page of keys is generated from the descriptions in the code; `npm run docs` writes it. */
import { expect, test } from 'vitest';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { type Key, keysOf, type Schema } from '../../src/cli/explain/schema-keys.ts';
import { policyEntryJsonSchema, policyFileJsonSchema } from '../../src/policy/policy-file-schema.ts';
import { configValuesJsonSchema } from '../../src/settings/config-file.ts';

const rowOf = ({ path, type, standard, text }: Key): string =>
  `| ${[`\`${path}\``, type, standard, text].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

const table = (schema: object, path = '') =>
  [
    '| key | type | default | meaning |',
    '|---|---|---|---|',
    ...new Set(keysOf(schema as Schema, path).map(rowOf)),
  ].join('\n');

test('docs/configuration.md describes every key as the code does', async () => {
  const config = configValuesJsonSchema();
  const registry = await loadJobs();
  const policy = policyEntryJsonSchema();
  const { vars, defaults, policies } = policyFileJsonSchema(registry).properties;
  const list = { ...policies, items: { type: 'object' } };
  const file = { vars, defaults: { ...defaults, type: 'object', properties: {} }, policies: list };
  const page = `# Configuration keys

Generated from the descriptions in the code, which \`caretaker schema config\` and \`caretaker schema policy\` print for editors.
[config/README.md](../config/README.md) explains how to write durations, percentages and days, and what the project folder is.

## \`config/caretaker.yaml\`

Every key is optional. Values may be taken from the environment: \`\${NAME}\`, or \`\${NAME:-default}\`. A running
daemon applies changes of \`access\`, \`notifications\`, \`calendars\`, \`maintenance\` and \`retention\` immediately. Other changes need a restart;
the log reports that. [access.md](access.md) explains \`access\`.

${table(config)}

## \`config/policies/*.yaml\`

A running daemon reloads the files when they change. Each file has these keys:

${table({ properties: file, required: ['policies'] })}

[config/README.md](../config/README.md#policies-that-share-keys-defaults-vars-matrix) explains \`defaults\`, \`vars\` and \`matrix\`. Each entry
of \`policies\` has these keys:

${table(policy)}

The keys under \`with\` are the options of the job; \`caretaker explain\` lists the jobs.
`;
  await expect(page).toMatchFileSnapshot('../../docs/configuration.md');
});
