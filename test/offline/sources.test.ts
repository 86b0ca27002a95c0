/** Policies over lists of each site and over joined lists: tested and planned without the service. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { planOverInventory } from '../../src/offline/inventory/inventory.ts';
import { saveInventory } from '../../src/offline/inventory/save.ts';
import { loadTests } from '../../src/offline/tests/load-tests.ts';
import { runTest } from '../../src/offline/tests/run-test.ts';
import { type Loaded, loadPolicies } from '../../src/policy/load-policies.ts';
import { folderWith } from '../settings/folder.ts';
import { startWorld, type World } from '../support/caretaker.ts';

const budget = { requestsPerMinute: 200, reserve: 0.1 };
const registry = await loadJobs();

const text = `
policies:
  - name: outdated-notes
    job: api-call
    select:
      from: listSiteNotes
      for_each: { list: listSites, where: '!site.locked' }
      where: note.content.contains("outdated")
    with: { operation: deleteSiteNote, confirm: deleteSiteNote }
  - name: without-schedule
    job: check
    select:
      from: listSites
      join:
        schedules:
          list: listAutoUpdateSchedules
          on: schedule.scope.sites.selection == "all" || site.id in schedule.scope.sites.ids
      where: schedules.size() == 0
  - name: logins
    job: check
    select: { from: listSiteActivityLogs, for_each: listSites, filters: { event_type: { eq: login } } }
`;

let policies: Loaded;
let world: World | undefined;
beforeEach(() => {
  world = undefined;
  policies = loadPolicies({ dir: folderWith({ 'p.yaml': text }), registry });
  expect(policies.findings).toEqual([]);
});
afterEach(() => world?.stop());

test('a test gives the lists of each site by its id', async () => {
  const dir = folderWith({
    't.yaml': `
tests:
  - name: Outdated notes are deleted
    policy: outdated-notes
    at: 2026-11-21T01:00:00Z
    given:
      listSites: [{ id: a }, { id: b, locked: true }, { id: c }]
      listSiteNotes:
        a: [{ id: n1, content: This is outdated }, { id: n2, content: Keep }]
        b: [{ id: n3, content: outdated }]
    expect:
      targets: [a/n1]
      excluded: { a/n2: select.where, b: select.for_each.where }
      requests: [{ operation: deleteSiteNote, params: { site_id: a, note_id: n1 } }]
      cost: { planning: 3, acting: 2 }
  - name: A site in no schedule is found
    policy: without-schedule
    at: 2026-11-21T01:00:00Z
    given:
      listSites: [{ id: a }, { id: b }]
      listAutoUpdateSchedules: [{ scope: { sites: { selection: specific, ids: [a] } } }]
    expect: { ended: { b: found }, excluded: { a: select.where }, cost: { planning: 2 } }
`,
  });
  const { tests, findings } = loadTests([`${dir}/t.yaml`], policies);

  expect(findings).toEqual([]);
  for (const one of tests) expect(await runTest(one, { registry, budget })).toEqual({ differences: [] });
  expect(tests).toHaveLength(2);
});

test('a plan over an inventory is the plan over the account, unread lists included', async () => {
  const at = await startWorld({ sites: 8, speedUp: 5 });
  world = at;
  const { client } = at.caretaker.link('default');
  const site_id = at.sandbox.siteIds()[0] ?? '';
  const body = { note: { content: 'outdated' } };
  await client.call('createSiteNote', { site_id, body }, { requestClass: 'person' });

  const { inventory, incomplete } = await saveInventory({
    account: { name: 'default', baseUrl: at.sandbox.url },
    client,
    clock: at.clock,
    registry,
    policies: policies.policies,
    allLists: false,
    onRead: () => undefined,
  });

  expect(incomplete).toEqual([]);
  for (const policy of policies.policies) {
    const online = await at.caretaker.engine.preview(policy);
    const offline = await planOverInventory(policy, { inventory, name: 'fleet.json', registry, budget });
    const ids = ({ targets, ended, excluded }: typeof online) => ({
      targets: targets.map(({ id }) => id),
      ended: ended.map(({ id, reason }) => `${id} ${reason}`).sort(),
      excluded: excluded.map(({ id }) => id).sort(),
    });
    expect(ids(offline)).toEqual(ids(online));
    expect(offline.cost.planning).toBeGreaterThan(1);
  }
});
