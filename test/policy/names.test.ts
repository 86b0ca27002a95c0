/** Names in place of ids in policy files: where they are possible, and what is said where they are not. */
import { expect, test } from 'vitest';
import { apiCall } from '../../jobs/api-call/job.ts';
import { reportDispatch } from '../../jobs/report-dispatch/job.ts';
import { stagingCleanup } from '../../jobs/staging-cleanup/job.ts';
import { createRegistry } from '../../src/job/registry.ts';
import { entryWith, mistakesIn, policyIn, read, writtenAgain } from './p.ts';
import { tinyJob } from './tiny-job.ts';

const registry = createRegistry([tinyJob, apiCall, reportDispatch, stagingCleanup]);

/** The errors in a policy with these lines; the first of them is line 3. */
const faults = (lines: string) => mistakesIn(entryWith(lines), { registry });
/** Without what to write instead. */
const says = (lines: string) =>
  read(entryWith(lines), { registry }).findings.map(
    ({ line, column, message }) => `${line}:${column} ${message}`,
  );
const assign = (params: string, body = '{ site_ids: [{ cel: site.id }] }') =>
  `job: api-call\nselect: { from: listSites }\nwith:\n  operation: assignTag\n  params: ${params}\n  body: ${body}`;
const allowed =
  'A name can replace the id of a tag, client, report template, auto update schedule or sender email.';

test('a name is possible in filters, in calls and in options of jobs, and is kept as it is written', () => {
  const filters = '{ tags: { in: [{ name: Premium }, "12"] }, client_id: { eq: { name: ACME Ltd } } }';
  const sync = policyIn(entryWith(`job: site-sync\nselect: { filters: ${filters} }`), { registry });
  expect(sync.select.filters).toEqual({
    tags: { in: [{ name: 'Premium' }, '12'] },
    client_id: { eq: { name: 'ACME Ltd' } },
  });
  expect(policyIn(writtenAgain([sync]), { registry }).select).toEqual(sync.select);

  expect(faults(assign('{ tag_id: { name: Premium } }'))).toEqual([]);
  const report =
    'job: report-dispatch\nwith: { template: { name: Monthly care }, sender: { name: reports@agency.example } }';
  expect(policyIn(entryWith(report), { registry }).options).toMatchObject({
    template: { name: 'Monthly care' },
  });
});

const filtered = (filter: string) => `job: site-sync\nselect: { filters: { ${filter} } }`;

test.each([
  [
    filtered('url: { contains: { name: x } }'),
    `4:43 "url" takes no name, because it is not an id. ${allowed}`,
  ],
  [filtered('id: { eq: { name: x } }'), `4:36 "id" is the id of a site, and takes no name. ${allowed}`],
  [filtered('tag: { in: [{ name: x }] }'), '4:26 Cannot filter by "tag".'],
  [filtered('tags: { eq: { name: x } }'), '4:34 "tags" does not support the operator "eq".'],
  [
    assign('{ tag_id: { name: Premium } }', '{ site_ids: [{ name: Shop }] }'),
    `8:26 "site_ids" is the id of a site, and takes no name. ${allowed}`,
  ],
  [
    'job: api-call\nselect: { from: listSites }\nwith: { operation: createSiteNote, body: { note: { content: { name: x } } } }',
    `5:65 "content" takes no name, because it is not an id. ${allowed}`,
  ],
])('a name where none is possible is refused at its place: %s', (policy, fault) => {
  expect(says(policy)).toEqual([fault]);
});

test('a name must be a text, and the only key', () => {
  for (const name of ['{ name: 12 }', '{ name: Premium, id: 12 }', '{ naem: Premium }', '{ name: "" }'])
    expect(faults(filtered(`tags: { in: [${name}] }`)), name).toHaveLength(1);
});

test('a map with a name that the API takes as it is stays what it is', () => {
  const update = `job: api-call\nselect: { from: listTags }\nwith: { operation: updateTag, body: { tag: { name: Premium } } }`;
  expect(faults(update)).toEqual([]);
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
  expect(
    read(entryWith(policy), { registry }).findings.map((found) => [found.message, found.suggestion]),
  ).toEqual([[message, suggestion]]);
});
