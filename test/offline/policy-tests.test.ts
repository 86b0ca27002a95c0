/** Tests of policies: what they compare, and what they say when a plan differs or a file is broken. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { writeInventory } from '../../src/offline/inventory/file.ts';
import type { Inventory } from '../../src/offline/inventory/inventory.ts';
import { givenReads } from '../../src/offline/tests/given-reads.ts';
import { loadTests, testFilesIn } from '../../src/offline/tests/load-tests.ts';
import { runTest, type TestResult } from '../../src/offline/tests/run-test.ts';
import { testFileJsonSchema } from '../../src/offline/tests/test-file.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { folderWith } from '../settings/folder.ts';
import { told } from '../settings/load.ts';
import { budget, resultOf } from './run-one.ts';

const AT = '2026-11-21T01:00:00Z';

const registry = await loadJobs();
const shipped = loadPolicies({ dir: 'config/policies', registry });

const loaded = (text: string) => loadTests([join(folderWith({ 'tests.yaml': text }), 'tests.yaml')], shipped);

/** The result of one test, of the nightly sync unless it names another policy. */
async function result(entry: object, inventory?: Inventory): Promise<TestResult> {
  const text = stringify({ tests: [{ name: 'It works', policy: 'nightly-sync', at: AT, ...entry }] });
  const dir = folderWith({ 'tests.yaml': text });
  if (inventory) writeInventory(join(dir, 'fleet.json'), inventory);
  const { tests, findings } = loadTests([join(dir, 'tests.yaml')], shipped);
  expect(findings).toEqual([]);
  return runTest(tests[0] as (typeof tests)[number], { registry, budget });
}

test('every shipped policy has a test, and all of them pass', async () => {
  const { tests, findings } = loadTests(
    // Those of the example policies are run by test/policy/examples.test.ts.
    testFilesIn('config/tests').filter((file) => !file.includes('examples')),
    shipped,
  );

  expect(findings).toEqual([]);
  expect([...new Set(tests.map(({ policy }) => policy.name))].sort()).toEqual(
    shipped.policies.map(({ name }) => name).sort(),
  );
  for (const one of tests) {
    const { place } = one;
    expect({ place, ...(await runTest(one, { registry, budget })) }).toEqual({ place, differences: [] });
  }
});

describe('a difference is shown with what was expected and what was planned', () => {
  const sites = [
    { id: 'stale', sync: { last_sync_at: '2026-11-19T03:00:00Z' } },
    { id: 'fresh' },
    { id: 'away', connection: { status: 'disconnected' } },
  ];
  const given = { listSites: sites };

  test.each([
    {
      expected: { targets: ['fresh'] },
      at: 'targets',
      missing: ['fresh (already-done: Synced 3 h ago.)'],
      unexpected: ['stale https://stale.example'],
    },
    {
      expected: { skipped: { away: 'locked', none: 'locked' } },
      at: 'skipped',
      missing: ['away: locked', 'none: locked'],
      unexpected: ['away: not-eligible, The site is disconnected.'],
    },
    {
      expected: { skipped: { fresh: 'already-done' } },
      at: 'skipped',
      missing: ['fresh: already-done'],
      unexpected: [],
    },
    {
      expected: { requests: [{ operation: 'syncSite', params: { site_id: 'fresh' } }] },
      at: 'requests',
      missing: ['syncSite {"site_id":"fresh"}'],
      unexpected: ['syncSite {"site_id":"stale"}'],
    },
    { expected: { requests: [] }, at: 'requests', missing: [], unexpected: ['syncSite {"site_id":"stale"}'] },
    { expected: { cost: { acting: 2 } }, at: 'cost.acting', missing: ['2'], unexpected: ['1'] },
    { expected: { warnings: ['tag'] }, at: 'warnings', missing: ['tag'], unexpected: [] },
    { expected: { stopped: 'max_targets' }, at: 'stopped', missing: ['max_targets'], unexpected: [] },
    {
      expected: { next: ['2026-11-22T03:00'] },
      at: 'next',
      missing: ['2026-11-22T02:00:00.000Z'],
      unexpected: ['2026-11-22T01:00:00.000Z'],
    },
  ])('$expected', async ({ expected, at, missing, unexpected }) => {
    expect(await result({ given, expect: expected })).toEqual({ differences: [{ at, missing, unexpected }] });
  });

  test('targets are found by id or label, and in their order if the policy sorts', async () => {
    const two = [sites[0], { id: 'staler', sync: { last_sync_at: '2026-11-18T03:00:00Z' } }];
    const inOrder = { targets: ['staler', 'https://stale.example'] };
    expect(await result({ given: { listSites: two }, expect: inOrder })).toEqual({ differences: [] });

    const { differences } = await result({
      given: { listSites: two },
      expect: { targets: ['stale', 'staler'] },
    });

    expect(differences).toEqual([
      {
        at: 'targets',
        missing: ['stale, staler'],
        unexpected: ['staler https://staler.example, stale https://stale.example'],
      },
    ]);
  });
});

test('the body of a request is compared whole, and nothing is sent to learn it', async () => {
  const policy = `policies:
  - name: p
    job: api-call
    select: { from: listSites }
    with: { operation: createSiteNote, body: { note: { content: { cel: '"Care of " + site.title' } } } }
`;
  const expecting = (content: string) => {
    const request = { operation: 'createSiteNote', params: { site_id: 'shop' }, body: { note: { content } } };
    const given = { listSites: [{ id: 'shop', title: 'Shop' }] };
    return resultOf({ registry, policy, test: { at: AT, given, expect: { requests: [request] } } });
  };

  expect(await expecting('Care of Shop')).toEqual({ differences: [] });
  expect(await expecting('Care')).toEqual({
    differences: [
      {
        at: 'requests',
        missing: ['createSiteNote {"site_id":"shop"} {"note":{"content":"Care"}}'],
        unexpected: ['createSiteNote {"site_id":"shop"} {"note":{"content":"Care of Shop"}}'],
      },
    ],
  });
});

test('a test over an inventory is planned as at the time when it was saved', async () => {
  const at = Date.parse(AT);
  const reads = givenReads(
    { listSites: [{ id: 'shop', sync: { last_sync_at: '2026-11-01T00:00:00Z' } }] },
    at,
  );
  const items = await reads.items('listSites', {});
  const inventory: Inventory = {
    account: 'default',
    baseUrl: 'https://service.example/api/v6',
    savedAt: at,
    serviceAt: at,
    entries: [{ operation: 'listSites', params: {}, items }],
  };

  const over = { at: undefined, inventory: 'fleet.json' };

  expect(await result({ ...over, expect: { targets: ['shop'] } }, inventory)).toEqual({ differences: [] });
  const other = { ...over, policy: 'staging-cleanup', expect: { targets: [] } };
  expect(await result(other, inventory)).toMatchObject({
    error: expect.stringContaining('fleet.json does not hold'),
  });
});

test('a test of the schedule alone needs no items', async () => {
  expect(await result({ expect: { next: ['2026-11-22T02:00'] } })).toEqual({ differences: [] });
});

describe('a broken test is a finding with its place', () => {
  const site = (item: string) => `    given: { listSites: [${item}] }\n    expect: {}\n`;
  const time = `    at: ${AT}\n`;
  test.each([
    [`${time}    expect: { target: [] }\n`, '5:15 "target" is not a known key. did you mean targets?'],
    [`${time}${site('{ synch: {} }')}`, '5:28 "synch" is not a known key. did you mean sync?'],
    [`${time}${site('{ id: 12 }')}`, '5:32 "id" must be a string, not a number. quote it'],
    [`${time}${site('{ tags: [{ name: x }] }')}`, '5:26 "tags[0].id" is missing.'],
    [
      '    expect: {}\n',
      '2:5 "at" is missing: without an inventory, a test needs a time such as 2026-11-21T02:00:00Z.',
    ],
    [
      `${time}    inventory: none.json\n    expect: {}\n`,
      expect.stringMatching(/^5:16 .*cannot be read: it does not exist\.$/),
    ],
  ])('%s', (entry, finding) => {
    const { tests, findings } = loaded(`tests:\n  - name: It\n    policy: nightly-sync\n${entry}`);
    expect(tests).toEqual([]);
    expect(findings.map(told)).toEqual([finding]);
  });

  test('an unknown policy is shown with the one that was meant', () => {
    const { findings } = loaded(`tests:\n  - name: It\n    policy: nightly-snc\n${time}    expect: {}\n`);
    expect(findings.map(told)).toEqual(['3:13 There is no policy "nightly-snc". did you mean nightly-sync?']);
  });
});

test('the JSON schema of test files knows lists, their fields and what can be expected', () => {
  const text = JSON.stringify(testFileJsonSchema());
  for (const name of ['listSites', 'last_sync_at', 'listSiteNotes', 'targets', 'syncSite'])
    expect(text).toContain(`"${name}"`);
});

describe('a policy with a name in place of an id', () => {
  const policy =
    'policies:\n  - name: p\n    job: site-sync\n    select: { filters: { tags: { in: [{ name: Premium }] } } }\n';
  const run = (given: object, expected: object) =>
    resultOf({ registry, policy, test: { at: AT, given, expect: expected } });
  const listSites = [{ id: 'shop', tags: [{ id: '7', name: 'Premium' }] }, { id: 'other' }];

  test('finds it in the tags that the test gives', async () => {
    const given = { listSites, listTags: [{ id: '7', name: 'Premium' }] };
    expect(await run(given, { targets: ['shop'], cost: { planning: 2 } })).toEqual({
      differences: [],
    });
  });

  test('fails when they do not have it, or when the test gives none', async () => {
    expect(await run({ listSites, listTags: [{ id: '7', name: 'Premum' }] }, { targets: [] })).toMatchObject({
      error: 'The account has no tag called "Premium" (select.filters.tags). Did you mean "Premum"?',
    });
    expect(await run({ listSites }, { targets: [] })).toMatchObject({
      error: 'The test gives no listTags, which the policy reads. Add it under "given"; an empty list is [].',
    });
  });
});
