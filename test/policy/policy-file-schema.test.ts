// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how placeholders are written in policy files.
/** The JSON Schema of policy files, as an editor uses it. */
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { policyEntryJsonSchema, policyFileJsonSchema } from '../../src/policy/policy-file-schema.ts';
import { everyLine, entryWith as one, policyWith, read } from './p.ts';
import { isValidPolicyFile, registry } from './policy-schema.ts';

const isValid = (text: string) => isValidPolicyFile(parse(text));

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
  one('job: site-sync\nschedule: { after: { policy: q } }'),
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
  expect([isValid(text), isValidPolicyFile.errors]).toEqual([true, null]);
});

const call = (operation: string, lines = '', from = 'account') =>
  one(`job: api-call\nselect: { from: ${from} }\nwith:\n  operation: ${operation}\n${lines}`);

test.each([
  call(
    'assignTag',
    '  params: { tag_id: { name: Premium } }\n  body: { site_ids: [{ cel: site.id }] }',
    'listSites',
  ),
  call('createTag', '  body: { tag: { name: Premium } }'),
  call('deleteTag', '  confirm: deleteTag', 'listTags'),
  call('disableSiteActivityLogs', '  confirm: disableSiteActivityLogs\n  grace: 3d', 'listSites'),
  call('createSiteNote', '  body: { note: { content: "${{ vars.x }}" } }', 'listSites'),
  call('syncSite', '', 'listSites'),
  one('job: api-call\nwith: { body: { note: {} } }', 'defaults: { with: { operation: createSiteNote } }\n'),
])('a call with the form of its operation is valid: %s', (text) => {
  expect([isValid(text), isValidPolicyFile.errors]).toEqual([true, null]);
});

test.each([
  ['an unknown field', call('createSiteNote', '  body: { note: { contnt: x } }', 'listSites')],
  [
    'an unknown field from the target',
    call('createClient', '  body: { client: { frst_name: { cel: account.name } } }'),
  ],
  ['a missing field', call('createSiteNote', '  body: { note: {} }', 'listSites')],
  ['a missing body', call('createSiteNote', '', 'listSites')],
  ['a body that the operation does not have', call('enableSiteActivityLogs', '  body: {}', 'listSites')],
  [
    'a value that is not in the list',
    call('createTeamMember', '  body: { team_member: { email: x, role: owner } }'),
  ],
  ['a number where a text belongs', call('createTag', '  body: { tag: { name: 5 } }')],
  [
    'a day that is none',
    call(
      'createSiteCustomWorks',
      '  body: { custom_works: [{ title: x, performed_on: 2026-02-30 }] }',
      'listSites',
    ),
  ],
  ['an unknown parameter', call('assignTag', '  params: { tag: "12" }\n  body: { site_ids: [x] }')],
  [
    'a name where only an id is possible',
    call('deleteSite', '  params: { site_id: { name: Shop } }\n  confirm: deleteSite'),
  ],
  ['an empty name', call('assignTag', '  params: { tag_id: { name: "" } }\n  body: { site_ids: [x] }')],
  [
    'ids that are missing',
    call(
      'createAutoUpdateSchedule',
      '  body: { auto_update_schedule: { name: x, schedule: daily, started_at: 2026-12-01T00:00:00Z, scope: { sites: { selection: specific } } } }',
    ),
  ],
  ['a change of nothing', call('updateTag', '  params: { tag_id: "1" }\n  body: { tag: {} }')],
  ['no confirmation of a destructive call', call('deleteTag', '', 'listTags')],
  ['the confirmation of another call', call('deleteTag', '  confirm: deleteSite', 'listTags')],
  ['an announcement of a harmless call', call('syncSite', '  grace: 3d', 'listSites')],
  ['a call that cannot be reversed', call('syncSite', '  undoable: true', 'listSites')],
])('%s is refused by the schema and by validate', (_, text) => {
  expect(isValid(text)).toBe(false);
  expect(read(text, { registry }).findings).toContainEqual(expect.objectContaining({ form: true }));
});

test.each([
  one(''),
  one('job: ~'),
  one('job: site-sync\nlimits: { concurrency: 0 }'),
  one('job: site-sync\nlimits: { concurrency: ten }'),
  one('job: site-sync\nlimits: { concurrency: "${{ vars.x }}0" }'),
  one('job: site-sync\nfilter: {}'),
  one('job: site-sync\nschedule: {}'),
  one('job: site-sync\nschedule: { cron: "0 2 * * *", after: { policy: q } }'),
  one('job: site-sync\nschedule: { after: { policy: q, status: [skipped] } }'),
  one('job: site-sync\nschedule: { after: { policy: q, nonsense: 1 } }'),
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
