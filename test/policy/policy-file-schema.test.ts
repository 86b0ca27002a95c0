// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how placeholders are written in policy files.
/** The JSON Schema of policy files, as an editor uses it. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadJobs } from '../../src/app/jobs.ts';
import { policyEntryJsonSchema, policyFileJsonSchema } from '../../src/policy/policy-file-schema.ts';
import { everyLine, policyWith } from './p.ts';

const registry = await loadJobs();

const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
  policyFileJsonSchema(registry),
);
const isValid = (text: string) => validate(parse(text));

const one = (lines: string, head = '') =>
  `${head}policies:\n  - name: p\n${lines.replace(/^(?=.)/gm, '    ')}\n`;

test('the schema has every key of a policy, for completion, also below defaults', () => {
  const { $defs, properties, then: withDefaults } = policyFileJsonSchema(registry);
  const keys = Object.keys(policyEntryJsonSchema().properties ?? {});
  expect(keys).toContain('matrix');
  expect(Object.keys($defs.policy.properties ?? {})).toEqual(keys);
  expect(Object.keys($defs.partialPolicy.properties ?? {})).toEqual(keys);
  expect(withDefaults.properties.policies.items.allOf).toEqual([{ $ref: '#/$defs/partialPolicy' }]);
  expect(properties.defaults.allOf).toEqual([{ $ref: '#/$defs/partialPolicy' }]);
});

test.each([
  policyWith(''),
  policyWith(everyLine.replace(', depth: quick', '')),
  one('job: site-sync', 'vars: { x: 1, y: [2] }\n'),
  one('select: {}', 'defaults: { job: site-sync }\n'),
  one('schedule: { timezone: UTC }\njob: site-sync', 'defaults: { schedule: { cron: "0 2 * * *" } }\n'),
  one(
    'schedule: ~\nlimits: { concurrency: ~ }',
    'defaults: { job: site-sync, schedule: { cron: 0 2 * * * } }\n',
  ),
  one('schedule: "${{ vars.s }}"', 'vars: { s: {} }\ndefaults: { job: "${{ vars.s }}" }\n'),
  one(
    'job: "${{ vars.j }}"\npriority: "${{ vars.p }}"\nlimits: { concurrency: "${{ vars.n }}" }\nselect: "${{ vars.s }}"',
  ),
  one(
    'job: site-sync\nnotify: "${{ vars.n }}"\nschedule: { enabled: "${{ vars.e }}", cron: 0 2 * * *, blackout: "${{ vars.b }}" }',
  ),
  'policies: [{ name: "sync-${{ matrix.tag }}", job: site-sync, matrix: { tag: [a, 2], exclude: [{ tag: a }], include: [{ tag: b }] } }]',
  'policies: [{ name: p, job: site-sync, matrix: { tag: "${{ vars.tags }}" } }]',
])('a file that is read is valid: %s', (text) => {
  expect([isValid(text), validate.errors]).toEqual([true, null]);
});

test.each([
  one(''),
  one('job: ~'),
  one('job: site-sync\nlimits: { concurrency: 0 }'),
  one('job: site-sync\nlimits: { concurrency: ten }'),
  one('job: site-sync\nlimits: { concurrency: "${{ vars.x }}0" }'),
  one('job: site-sync\nfilter: {}'),
  one('job: site-sync\nschedule: {}'),
  one('job: site-sync\nschedule: ~'),
  one('job: site-sync\nschedule: { timezone: UTC }', 'defaults: { limits: {} }\n'),
  one('limits: {}', 'defaults: { schedule: { cron: 0 2 * * * } }\n'),
  one('job: site-sync\nschedule: { after: { within: 1h } }', 'defaults: { priority: low }\n'),
  one('job: site-sync\nnotify: [{ on: [failed] }]', 'defaults: { priority: low }\n'),
  one('job: site-sync', 'defaults: { name: x }\n'),
  one('job: site-sync', 'defaults: { matrix: {} }\n'),
  one('job: site-sync', 'defaults: { limit: {} }\n'),
  one('job: site-sync', 'vars: { "a b": 1 }\n'),
  one('job: site-sync', 'vars: [1]\n'),
  one('job: site-sync', 'default: {}\n'),
  'policies: [{ name: Upper, job: site-sync }]',
  'policies: [{ name: p, job: site-sync, matrix: { tag: [] } }]',
  'policies: [{ job: site-sync }]',
  'defaults: { job: site-sync }\npolicies: [{ description: x }]',
])('a file that is refused for its form is invalid: %s', (text) => {
  expect(isValid(text)).toBe(false);
});
