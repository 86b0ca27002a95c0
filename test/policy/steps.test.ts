/** `steps` of a policy, as it is written. */
import { expect, test } from 'vitest';
import { apiCall } from '../../jobs/api-call/job.ts';
import { check } from '../../jobs/check/job.ts';
import { siteSync } from '../../jobs/site-sync/job.ts';
import { stagingCleanup } from '../../jobs/staging-cleanup/job.ts';
import { createRegistry } from '../../src/job/registry.ts';
import { Policy } from '../../src/policy/policy.ts';
import { entryWith, mistakesIn, policyIn, writtenAgain } from './p.ts';

const registry = createRegistry([apiCall, check, siteSync, stagingCleanup]);
const policyOf = (...lines: string[]) => policyIn(entryWith(lines.join('\n')), { registry });
/** The first given line is line 3. */
const faults = (...lines: string[]) => mistakesIn(entryWith(lines.join('\n')), { registry });

const note = 'job: api-call, with: { operation: createSiteNote, body: { note: { content: Begins } } }';
const noteThenSync = [
  'select: { from: listSites }',
  'steps:',
  `  - { name: begin, ${note} }`,
  '  - { job: site-sync, with: { mode: stale, max_age: 12h } }',
];

test('steps are read with the options of their jobs, and written back as the same policy', () => {
  const policy = policyOf(...noteThenSync);

  expect(policy).toMatchObject({
    job: 'api-call, site-sync',
    options: [{ operation: 'createSiteNote' }, { mode: 'stale', max_age: 43_200_000 }],
    steps: [
      { name: 'begin', job: 'api-call' },
      { name: 'site-sync', job: 'site-sync' },
    ],
  });
  const again = policyIn(writtenAgain([policy], registry), { registry });
  expect(again).toEqual({ ...policy, file: again.file });
  expect(Policy.parse(JSON.parse(JSON.stringify(policy)))).toEqual(policy);
});

test('one step is the same as its job, with the same hash', () => {
  const steps = policyOf('steps: [{ job: site-sync, with: { mode: all } }]');
  const job = policyOf('job: site-sync', 'with: { mode: all }');

  expect(steps).toEqual({ ...job, file: steps.file });
});

test.each([
  [
    'beside a job',
    ['job: site-sync', 'steps: [{ job: site-sync }]'],
    '4:12 "steps" cannot be used together with "job". remove one of the two',
  ],
  [
    'beside "with"',
    ['with: { mode: all }', 'steps: [{ job: site-sync }]'],
    '3:11 "with" cannot be used together with "steps". give each step its own "with"',
  ],
  ['without a job of their own', ['select: {}'], '2:5 "job" is missing.'],
  ['that are none', ['steps: []'], '3:12 "steps" must have at least 1 entry.'],
  [
    'with a misspelt job',
    ['steps: [{ job: site-snc }, { job: site-sync }]'],
    '3:20 There is no job "site-snc". did you mean site-sync?',
  ],
  [
    'with a misspelt option',
    ['steps: [{ job: site-sync, with: { mod: all } }, { job: site-sync }]'],
    '3:39 "mod" is not a known key. did you mean mode?',
  ],
  [
    'with a misspelt key',
    ['steps: [{ job: site-sync, wiht: {} }]'],
    '3:31 "wiht" is not a known key. did you mean with?',
  ],
  [
    'over different lists',
    ['steps: [{ job: site-sync }, { job: staging-cleanup, with: { older_than: 14d } }]'],
    '3:40 The job staging-cleanup works on listStagingSites, but site-sync on listSites: all steps of a policy work on the same list. write a policy of its own',
  ],
  [
    'over any list, and none is named',
    [`steps: [{ ${note} }, { ${note} }]`],
    '2:5 The steps work on any list; name one with "from", such as listSites.',
  ],
  [
    'over another list than that of one of them',
    ['select: { from: listClients }', `steps: [{ ${note} }, { job: site-sync }]`],
    '3:21 The steps work on listSites only. remove "from"',
  ],
  [
    'that only report',
    ['select: { from: listSites }', 'steps: [{ job: check, with: { message: Seen } }, { job: site-sync }]'],
    '4:20 The job check only reports what the policy selects, so it cannot be a step.',
  ],
])('steps %s are refused at their place', (_, lines, fault) => {
  expect(faults(...lines)).toContain(fault);
});

test('a number without quotes in the parameters of a step is reported as in those of a job', () => {
  const call =
    'job: api-call, with: { operation: assignTag, params: { tag_id: 8.10 }, body: { site_ids: [{ cel: site.id }] } }';
  expect(faults('select: { from: listSites }', `steps: [{ ${call} }, { job: site-sync }]`)).toContainEqual(
    expect.stringContaining('Without quotes, 8.10 is the number 8.1.'),
  );
});
