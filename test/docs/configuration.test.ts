/** The page of keys is generated from the descriptions in the code; `npm run docs` writes it. */
import { expect, test } from 'vitest';
import { policyEntryJsonSchema, policyFileJsonSchema } from '../../src/policy/policy-file-schema.ts';
import { configFileJsonSchema } from '../../src/settings/config-file.ts';

interface Schema {
  type?: string | string[];
  title?: string;
  description?: string;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  format?: string;
  not?: object;
  anyOf?: Schema[];
  items?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
}

const words: Record<string, string> = {
  string: 'text',
  number: 'number',
  boolean: 'true or false',
  object: 'map',
};

function typeOf(schema: Schema): string {
  if (schema.title) return schema.title;
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  if (schema.format === 'date') return 'day';
  if (schema.type === 'integer') {
    const bounded = (schema.minimum ?? 0) > 0 && (schema.maximum ?? 0) < 1_000_000;
    return bounded ? `whole number, ${schema.minimum} to ${schema.maximum}` : 'whole number';
  }
  if (schema.type === 'array') return `list: ${schema.items ? typeOf(schema.items) : ''}`;
  return [schema.type ?? '']
    .flat()
    .map((type) => words[type] ?? type)
    .join(' or ');
}

function rowsOf(schema: Schema, path: string): string[] {
  const required = schema.required ?? [];
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => {
    const at = path === '' ? key : `${path}.${key}`;
    const [, text = inner.description ?? '', standard = ''] =
      /^(.*?)\s*\bDefault:?\s(.*)\.$/.exec(inner.description ?? '') ?? [];
    const without = standard || (required.includes(key) ? 'required' : '');
    const cells = [`\`${at}\``, inner.not ? '' : typeOf(inner), without, text];
    if (!inner.description) return [];
    return [`| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`, ...rowsOf(inner, at)];
  });
  const { additionalProperties: named, items, anyOf = [] } = schema;
  return [
    ...own,
    ...(typeof named === 'object' && path !== 'select.filters' ? rowsOf(named, `${path}.<name>`) : []),
    ...(items ? rowsOf(items, `${path}[]`) : []),
    ...anyOf.flatMap((one) => rowsOf(one, path)),
  ];
}

const table = (schema: object, path = '') =>
  [
    '| key | type | default | meaning |',
    '|---|---|---|---|',
    ...new Set(rowsOf(schema as Schema, path)),
  ].join('\n');

test('docs/configuration.md describes every key as the code does', async () => {
  const config = configFileJsonSchema();
  const policy = policyEntryJsonSchema();
  const { vars, defaults, policies } = policyFileJsonSchema().properties;
  const list = { ...policies, items: { type: 'object' } };
  const file = { vars, defaults: { ...defaults, type: 'object', properties: {} }, policies: list };
  const page = `# Configuration keys

Generated from the descriptions in the code, which \`caretaker schema config\` and \`caretaker schema policy\` print for editors.
[config/README.md](../config/README.md) explains how to write durations, percentages and days, and what the project folder is.

## \`config/caretaker.yaml\`

Every key is optional. Values may be taken from the environment: \`\${NAME}\`, or \`\${NAME:-default}\`. A running
daemon applies changes of \`notifications\`, \`calendars\` and \`retention\` immediately. Other changes need a restart; the log
reports that.

${table(config)}

## \`config/policies/*.yaml\`

A running daemon reloads the files when they change. Each file has these keys:

${table({ properties: file, required: ['policies'] })}

[config/README.md](../config/README.md#policies-that-share-keys-defaults-vars-matrix) explains \`defaults\`, \`vars\` and \`matrix\`. Each entry
of \`policies\` has these keys:

${table(policy)}

The keys under \`with\` are the options of the job; [jobs/README.md](../jobs/README.md) lists the jobs.
`;
  await expect(page).toMatchFileSnapshot('../../docs/configuration.md');
});
