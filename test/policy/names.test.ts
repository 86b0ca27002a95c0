/** Names in place of ids in policy files: where they are possible, and what is said where they are not. */
import { expect, test } from 'vitest';
import { apiCall } from '../../jobs/api-call/job.ts';
import { reportDispatch } from '../../jobs/report-dispatch/job.ts';
import { stagingCleanup } from '../../jobs/staging-cleanup/job.ts';
import { createRegistry } from '../../src/job/registry.ts';
import { asWritten } from '../../src/policy/as-written.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { folderWith } from '../settings/folder.ts';
import { tinyJob } from './tiny-job.ts';

const registry = createRegistry([tinyJob, apiCall, reportDispatch, stagingCleanup]);

function loaded(lines: string) {
  const dir = folderWith({ 'p.yaml': `policies:\n  - name: p\n${lines.replace(/^(?=.)/gm, '    ')}\n` });
  const { policies, findings } = loadPolicies({ dir, registry });
  return {
    policy: policies[0],
    findings,
    says: findings.map(({ line, column, message }) => `${line}:${column} ${message}`),
  };
}
const assign = (params: string, body = '{ site_ids: [{ cel: site.id }] }') =>
  `job: api-call\nselect: { from: listSites }\nwith:\n  operation: assignTag\n  params: ${params}\n  body: ${body}`;
const allowed =
  'A name can replace the id of a tag, client, report template, auto update schedule or sender email.';

test('a name is possible in filters, in calls and in options of jobs, and is kept as it is written', () => {
  const filters = '{ tags: { in: [{ name: Premium }, "12"] }, client_id: { eq: { name: ACME Ltd } } }';
  const sync = loaded(`job: site-sync\nselect: { filters: ${filters} }`);
  expect(sync.says).toEqual([]);
  expect(sync.policy?.select.filters).toEqual({
    tags: { in: [{ name: 'Premium' }, '12'] },
    client_id: { eq: { name: 'ACME Ltd' } },
  });
  expect(sync.policy && asWritten(sync.policy, registry)['select']).toEqual(sync.policy?.select);

  expect(loaded(assign('{ tag_id: { name: Premium } }')).says).toEqual([]);
  const report = loaded(
    'job: report-dispatch\nwith: { template: { name: Monthly care }, sender: { name: reports@agency.example } }',
  );
  expect(report.says).toEqual([]);
  expect(report.policy?.options).toMatchObject({ template: { name: 'Monthly care' } });
});

test('a name in a filter that is not the id of something with a name is refused at its place', () => {
  expect(loaded('job: site-sync\nselect: { filters: { url: { contains: { name: x } } } }').says).toEqual([
    `4:43 "url" takes no name, because it is not an id. ${allowed}`,
  ]);
  expect(loaded('job: site-sync\nselect: { filters: { id: { eq: { name: x } } } }').says).toEqual([
    `4:36 "id" is the id of a site, and takes no name. ${allowed}`,
  ]);
});

test('a name with an operator or a filter that the list does not have is reported as any other value', () => {
  expect(loaded('job: site-sync\nselect: { filters: { tag: { in: [{ name: x }] } } }').says).toEqual([
    '4:26 Cannot filter by "tag".',
  ]);
  expect(loaded('job: site-sync\nselect: { filters: { tags: { eq: { name: x } } } }').says).toEqual([
    '4:34 "tags" does not support the operator "eq".',
  ]);
});

test('a name must be a text, and the only key', () => {
  for (const name of ['{ name: 12 }', '{ name: Premium, id: 12 }', '{ naem: Premium }', '{ name: "" }'])
    expect(
      loaded(`job: site-sync\nselect: { filters: { tags: { in: [${name}] } } }`).says,
      name,
    ).toHaveLength(1);
});

test('a name in a call where the API wants something else is refused at its place', () => {
  expect(loaded(assign('{ tag_id: { name: Premium } }', '{ site_ids: [{ name: Shop }] }')).says).toEqual([
    `8:26 "site_ids" is the id of a site, and takes no name. ${allowed}`,
  ]);
  const create = `job: api-call\nselect: { from: listSites }\nwith: { operation: createSiteNote, body: { note: { content: { name: x } } } }`;
  expect(loaded(create).says).toEqual([`5:65 "content" takes no name, because it is not an id. ${allowed}`]);
});

test('a map with a name that the API takes as it is stays what it is', () => {
  const update = `job: api-call\nselect: { from: listTags }\nwith: { operation: updateTag, body: { tag: { name: Premium } } }`;
  expect(loaded(update).says).toEqual([]);
});

test.each([
  [
    'job: site-sync\nselect: { filters: { tags: { in: [Premium] } } }',
    '"tags" must be the id of a tag, which is a number such as "12".',
    'write { name: Premium }',
  ],
  [
    'job: site-sync\nselect: { filters: { tags: Premium } }',
    '"tags" must be an operator with a value.',
    'write tags: { in: [{ name: ... }] }',
  ],
  ...[
    ['client_id', '{ name: Acme }', 'does not support the operator "name"', '{ eq: { name: Acme } }'],
    ['client_id', '{ in: [{ name: Acme }] }', 'does not support the operator "in"', '{ eq: { name: Acme } }'],
    [
      'client_id',
      '{ name: "A: B, C" }',
      'does not support the operator "name"',
      '{ eq: { name: "A: B, C" } }',
    ],
    ['tags', '{ name: Premium }', 'does not support the operator "name"', '{ in: [{ name: Premium }] }'],
  ].map(([field, written, message, instead]): [string, string, string] => [
    `job: site-sync\nselect: { filters: { ${field}: ${written} } }`,
    `"${field}" ${message}.`,
    `write ${field}: ${instead}`,
  ]),
  [
    'job: site-sync\nselect: { filters: { tags: { in: { name: Premium } } } }',
    '"in" needs a list.',
    'write tags: { in: [{ name: Premium }] }',
  ],
  [
    'job: site-sync\nselect: { filters: { tag: Premium } }',
    '"tag" must be an operator with a value.',
    'did you mean tags?',
  ],
  [
    'job: staging-cleanup\nwith: { action: delete, older_than: 14d, unless_tagged: [keep] }',
    'Entry 1 of "unless_tagged" must be the id of a tag, which is a number such as "12", or { name: keep }.',
    undefined,
  ],
  [
    assign('{ tag_id: Premium }'),
    '"tag_id" must be the id of a tag, which is a number such as "12".',
    'write { name: Premium }',
  ],
])('what is no id of a tag is refused, with what to write: %s', (policy, message, suggestion) => {
  expect(loaded(policy).findings.map((found) => [found.message, found.suggestion])).toEqual([
    [message, suggestion],
  ]);
});
