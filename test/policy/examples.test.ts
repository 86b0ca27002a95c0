/** The example policies of `config/examples`: valid, listed, tested, and carried out once against the sandbox. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { z } from 'zod';
import { loadJobs } from '../../src/app/jobs.ts';
import { loadTests, testFilesIn } from '../../src/offline/tests/load-tests.ts';
import { runTest } from '../../src/offline/tests/run-test.ts';
import { jsonSchemaOf } from '../../src/policy/json-schema.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { policyEntryJsonSchema, policyFileJsonSchema } from '../../src/policy/policy-file-schema.ts';
import { YamlFile } from '../../src/yaml/yaml-file.ts';
import { startWorld, type World } from '../support/caretaker.ts';

/** Keys that name something of the configuration; the README of the examples shows them. */
const ofConfiguration = ['account', 'notify', 'notify/on', 'notify/to', 'notify/streak'];

const folder = 'config/examples';
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
const registry = await loadJobs();
const loadFrom = (path: string) => loadPolicies({ dir: path, files: [path], registry });
const loaded = loadFrom(folder);
const budget = { requestsPerMinute: 200, reserve: 20 };

/** How targets may end: with the work done, or with what the sandbox's sites have. */
const expected: string[] = [
  ...['done', 'already-done', 'announced', 'found', 'adopted', 'no-history', 'schedule-paused', 'vulnerable'],
  ...['update-failed', 'overdue', 'uncovered', 'task-failed', 'undelivered', 'daily-limit', 'maintenance'],
  'not-eligible',
];

/** What the service refuses as a rule of its own. */
const serviceLimits = ['A staging site lives for 30 days at most.'];

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

let world: World;
let archive = '';
beforeAll(async () => {
  archive = mkdtempSync(join(tmpdir(), 'caretaker-examples-'));
  world = await startWorld({ sites: 60, speedUp: 120 });
});
afterAll(async () => {
  rmSync(archive, { recursive: true, force: true });
  await world.stop();
});

/** The policy with a folder of ours for what it archives, and without the people for whom it would wait. */
const toCarryOut = ({ approval: _, rollout: _batches, ...policy }: Policy): Policy => {
  const options = policy.options as object;
  return 'archive_dir' in options ? { ...policy, options: { ...options, archive_dir: archive } } : policy;
};

test('there are at least 30 examples, without errors and warnings, and the JSON Schema accepts them', () => {
  const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(
    policyFileJsonSchema(registry),
  );
  expect(loaded.findings).toEqual([]);
  expect(loaded.warnings).toEqual([]);
  expect(files.length).toBeGreaterThanOrEqual(30);
  for (const name of files) {
    const yaml = YamlFile.read(`${folder}/${name}`);
    const valid = yaml instanceof YamlFile && isValid(yaml.value());
    expect({ name, valid, errors: isValid.errors }).toEqual({ name, valid: true, errors: null });
  }
});

test('each example says what it is for and what to change, and the README lists it', () => {
  const readme = readFileSync(`${folder}/README.md`, 'utf8');
  expect([...readme.matchAll(/^\| \[`(.*)`\]/gm)].map(([, name]) => name)).toEqual(files.toSorted());
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

test.each(loaded.policies.map((policy) => ({ name: policy.name, policy })))(
  'the sandbox carries out $name',
  async ({ policy }) => {
    const run = await world.ended(await world.fire(toCarryOut(policy)));
    const targets = await world.targets(run.id);
    const unexpected = targets
      .filter(
        ({ reason, detail = '' }) => !expected.includes(reason ?? '') && !serviceLimits.includes(detail),
      )
      .map(({ id, reason, detail }) => ({ id, reason, detail }));

    // What is wrong in the sandbox's fleet (a hacked site, a sync that fails) is found; the policy itself works.
    expect(['succeeded', 'partial', 'failed']).toContain(run.status);
    expect(unexpected).toEqual([]);
  },
);
