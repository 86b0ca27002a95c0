/** The example policies of `config/examples`: valid, listed, tested, and carried out once against the sandbox. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadJobs } from '../../src/app/jobs.ts';
import { loadTests, testFilesIn } from '../../src/offline/tests/load-tests.ts';
import { runTest } from '../../src/offline/tests/run-test.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { policyFileJsonSchema } from '../../src/policy/policy-file-schema.ts';
import { YamlFile } from '../../src/yaml/yaml-file.ts';
import { startWorld, type World } from '../support/caretaker.ts';

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

let world: World;
beforeAll(async () => {
  world = await startWorld({ sites: 60, speedUp: 120 });
});
afterAll(() => world.stop());

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
    const run = await world.ended(await world.fire(policy));
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
  60_000,
);
