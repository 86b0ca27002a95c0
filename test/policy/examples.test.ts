/** The example policies of `config/examples`: valid, listed, tested, and some of them carried out in the sandbox. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { z } from 'zod';
import { loadTests, testFilesIn } from '../../src/offline/tests/load-tests.ts';
import { runTest } from '../../src/offline/tests/run-test.ts';
import { jsonSchemaOf } from '../../src/policy/json-schema.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { policyEntryJsonSchema } from '../../src/policy/policy-file-schema.ts';
import { withRows } from '../docs/table.ts';
import { exampleRuns, examples as loaded, registry } from './example-runs.ts';

/** Keys that name something of the configuration; the README of the examples shows them. */
const ofConfiguration = [
  'account',
  'notify',
  'notify/on',
  'notify/to',
  'notify/streak',
  ...['route', 'route/client', 'route/tag', 'route/label', 'route/to'].map((key) => `notify/${key}`),
];

const folder = 'config/examples';
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
const loadFrom = (path: string) => loadPolicies({ dir: path, files: [path], registry });
const budget = { requestsPerMinute: 200, reserve: 20 };

interface Entry {
  job?: string;
  with?: object;
  steps?: Entry[];
}
interface ExampleFile {
  vars?: object;
  defaults?: Entry;
  policies: Entry[];
}

interface Schema {
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
  items?: Schema;
}

/** The keys of a schema and of what is inside, as paths. */
const keysOf = ({ properties = {}, anyOf = [], items }: Schema, path: string): string[] => [
  ...Object.entries(properties).flatMap(([key, inner]) => [
    join(path, key),
    ...keysOf(inner, join(path, key)),
  ]),
  ...[...anyOf, ...(items ? [items] : [])].flatMap((one) => keysOf(one, path)),
];

// `schema-agrees.test.ts` shows that the JSON Schema accepts them.
test('there are at least 30 examples, without errors and warnings', () => {
  expect(loaded.findings).toEqual([]);
  expect(loaded.warnings).toEqual([]);
  expect(files.length).toBeGreaterThanOrEqual(30);
});

/** The row of an example in the README: its jobs, and its header up to what to change. */
function rowOf(name: string): string {
  const text = readFileSync(`${folder}/${name}`, 'utf8');
  const header = text.split('\n').filter((line) => /^# (?!yaml-language-server)/.test(line));
  const [purpose = ''] = header
    .map((line) => line.slice(2))
    .join(' ')
    .split(/ ?Change: /);
  const { defaults, policies } = parse(text) as ExampleFile;
  const entries = policies.flatMap((entry) => entry.steps ?? [{ ...defaults, ...entry }]);
  const jobs = [...new Set(entries.map(({ job }) => job))].join(', ');
  return `| [\`${name}\`](${name}) | ${jobs} | ${purpose} |`;
}

test('the README lists each example with its purpose; `npm run docs` writes it', async () => {
  const page = readFileSync(`${folder}/README.md`, 'utf8');
  const written = withRows(page, '<!-- examples: ', files.toSorted().map(rowOf));
  await expect(written).toMatchFileSnapshot(join(import.meta.dirname, '../../config/examples/README.md'));
});

test('each example says what it is for and what to change', () => {
  for (const name of files) {
    const text = readFileSync(`${folder}/${name}`, 'utf8');
    const [header = ''] = text.split('policies:');
    expect({ name, header }).toMatchObject({ header: expect.stringMatching(/^# .*[\s\S]*Change: /) });
    expect(existsSync(`config/policies/${name}`), `${name} is not active`).toBe(false);
  }
});

test('each key of a policy file, and each option of a job, is used by an example', () => {
  const used = new Set<string>();
  const collect = (value: unknown, path: string): void => {
    if (Array.isArray(value)) for (const one of value) collect(one, path);
    else if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) {
        used.add(join(path, key));
        collect(inner, join(path, key));
      }
  };
  for (const name of files) {
    const { vars, defaults, policies } = parse(readFileSync(`${folder}/${name}`, 'utf8')) as ExampleFile;
    for (const key of Object.keys({ ...(vars && { vars }), ...(defaults && { defaults }) })) used.add(key);
    for (const entry of [defaults ?? {}, ...policies]) {
      collect(entry, '');
      for (const { job = defaults?.job ?? '', with: options } of [entry, ...(entry.steps ?? [])])
        collect(options, `options of ${job}`);
    }
  }
  const keys = [
    'vars',
    'defaults',
    ...keysOf(policyEntryJsonSchema() as Schema, ''),
    ...registry
      .names()
      .flatMap((job) =>
        keysOf(jsonSchemaOf(registry.get(job)?.options as z.ZodType) as Schema, `options of ${job}`),
      ),
  ];
  expect(keys.length).toBeGreaterThan(80);
  expect(keys.filter((key) => !used.has(key) && !ofConfiguration.includes(key))).toEqual([]);
});

test('each example policy has a test in config/tests, and all of them pass', async () => {
  const { tests, findings } = loadTests(
    testFilesIn('config/tests/examples'),
    { policies: [], broken: [] },
    loadFrom,
  );
  expect(findings).toEqual([]);
  expect([...new Set(tests.map(({ policy }) => policy.name))].sort()).toEqual(
    loaded.policies.map(({ name }) => name).sort(),
  );
  for (const one of tests)
    expect({ place: one.place, ...(await runTest(one, { registry, budget })) }).toEqual({
      place: one.place,
      differences: [],
    });
});

const carryOut = exampleRuns();

// A file is written, and steps follow each other. All examples are in examples.long.test.ts.
test.each(['archive-activity', 'maintenance-in-steps'])('the sandbox carries out %s', async (name) => {
  const policy = loaded.policies.find((one) => one.name === name);
  if (!policy) throw new Error(`There is no example "${name}".`);
  await carryOut(policy);
});
