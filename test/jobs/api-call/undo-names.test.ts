/** `undo_of` names a policy: when the policies are loaded, that policy must exist and record what is reversed. */
import { expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { siteSync } from '../../../jobs/site-sync/job.ts';
import { createRegistry } from '../../../src/job/registry.ts';
import { loadPolicies } from '../../../src/policy/load-policies.ts';
import { folderWith } from '../../settings/folder.ts';

const registry = createRegistry([apiCall, siteSync]);
const entry = (name: string, call: string, more = '') =>
  `  - name: ${name}\n    job: api-call\n    select: { from: listSites }\n${more}    with: ${call}\n`;
const quiet = '{ operation: disableSiteActivityLogs, confirm: disableSiteActivityLogs, undoable: true }';
const back = entry('back', '{ operation: enableSiteActivityLogs, undo_of: quiet }');
const tagging = (tag: string) =>
  `{ operation: assignTag, params: { tag_id: ${tag} }, body: { site_ids: [{ cel: site.id }] }, undoable: true }`;
const untagging = (tag: string, of: string) =>
  `{ operation: removeTag, confirm: removeTag, params: { tag_id: ${tag} }, body: { site_ids: [{ cel: site.id }] }, undo_of: ${of} }`;

/** What is wrong with the policy of `b.yaml`, with its place, beside these of `a.yaml`. */
function faultsOf(first: string, second: string, files?: (dir: string) => string[]) {
  const dir = folderWith({ 'a.yaml': `policies:\n${first}`, 'b.yaml': `policies:\n${second}` });
  const { findings, policies } = loadPolicies({
    dir,
    registry,
    ...(files ? { files: files(dir) } : {}),
  });
  const shown = findings.map(
    ({ file, line, column, message, suggestion = '' }) =>
      `${file.replace(/.*\//, '')}:${line}:${column} ${message} ${suggestion}`,
  );
  return { shown, names: policies.map(({ name }) => name) };
}

test('a policy that reverses another of another file is accepted, also when only its own file is read', () => {
  expect(faultsOf(entry('quiet', quiet), back)).toEqual({ shown: [], names: ['quiet', 'back'] });
  expect(faultsOf(entry('quiet', quiet), back, (dir) => [`${dir}/b.yaml`])).toEqual({
    shown: [],
    names: ['back'],
  });
});

test('the tag may be a name in one of the two and an id in the other', () => {
  const { shown } = faultsOf(
    entry('tag', tagging('{ name: Premium }')),
    entry('untag', untagging('"12"', 'tag')),
  );
  expect(shown).toEqual([]);
});

test('a step may reverse an earlier step of its own policy', () => {
  const own = [
    '  - name: maintenance',
    '    select: { from: listSites }',
    '    steps:',
    `      - { job: api-call, with: ${quiet} }`,
    '      - { job: site-sync }',
    '      - { job: api-call, with: { operation: enableSiteActivityLogs, undo_of: maintenance } }',
    '',
  ].join('\n');
  expect(faultsOf(own, entry('other', quiet)).shown).toEqual([]);
});

test.each([
  [
    'does not exist',
    entry('quiet', quiet),
    entry('back', '{ operation: enableSiteActivityLogs, undo_of: quite }'),
    'b.yaml:5:57 There is no policy "quite". did you mean quiet?',
  ],
  [
    'is not undoable',
    entry('quiet', quiet.replace(', undoable: true', '')),
    back,
    'b.yaml:5:57 The policy "quiet" has no call with "undoable", so it records nothing that could be reversed. add undoable: true to its call',
  ],
  [
    'has another pair of operations',
    entry('quiet', quiet),
    entry('back', untagging('"12"', 'quiet')),
    'b.yaml:5:130 removeTag does not reverse disableSiteActivityLogs, which the policy "quiet" calls. call enableSiteActivityLogs',
  ],
  [
    'makes the same change',
    entry('quiet', quiet),
    entry('back', '{ operation: disableSiteActivityLogs, confirm: disableSiteActivityLogs, undo_of: quiet }'),
    'b.yaml:5:92 disableSiteActivityLogs does not reverse disableSiteActivityLogs, which the policy "quiet" calls. call enableSiteActivityLogs',
  ],
  [
    'works in another account',
    entry('quiet', quiet, '    account: other\n'),
    back,
    'b.yaml:5:57 The policy "quiet" works in the account "other", and this one in "default". use the same account in both',
  ],
  [
    'assigns another tag',
    entry('tag', tagging('{ name: Premium }')),
    entry('untag', untagging('{ name: Basic }', 'tag')),
    'b.yaml:5:141 The policy "tag" calls assignTag with other "params", so this call reverses nothing of it. use the same params in both',
  ],
])('an undo_of whose policy %s is an error with its place', (_, first, second, fault) => {
  const { shown, names } = faultsOf(first, second);

  expect(shown).toEqual([fault]);
  expect(names).toHaveLength(1);
});

test('a policy with errors of its own is not reported a second time where it is named', () => {
  const { shown } = faultsOf(entry('quiet', quiet.replace('undoable: true', 'undoable: yes please')), back);
  expect(shown).toEqual([expect.stringMatching(/^a\.yaml:5:\d+ "undoable" must be /)]);
});
