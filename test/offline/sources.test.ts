/** Tests of policies over lists of each site and over joined lists. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { loadTests } from '../../src/offline/tests/load-tests.ts';
import { runTest } from '../../src/offline/tests/run-test.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { folderWith } from '../settings/folder.ts';
import { otherLists } from './other-lists.ts';
import { budget } from './run-one.ts';

const tests = `
tests:
  - name: Outdated notes are deleted
    policy: outdated-notes
    at: 2026-11-21T01:00:00Z
    given:
      listSites: [{ id: a }, { id: b, locked: true }, { id: c }]
      listSiteNotes:
        a: [{ id: n1, content: This is outdated }, { content: Keep }]
        b: [{ id: n3, content: outdated }]
    expect:
      targets: [a/n1]
      excluded: { a/note-2: select.where, b: select.for_each.where }
      requests: [{ operation: deleteSiteNote, params: { site_id: a, note_id: n1 } }]
      cost: { planning: 3, acting: 2 }
  - name: A site in no schedule is found
    policy: without-schedule
    at: 2026-11-21T01:00:00Z
    given:
      listSites: [{ id: a }, { id: b }]
      listAutoUpdateSchedules: [{ scope: { sites: { selection: specific, ids: [a] } } }]
    expect: { ended: { b: found }, excluded: { a: select.where }, cost: { planning: 2 } }
`;

test('a test gives the lists of each site by its id, and a site without any has none', async () => {
  const registry = await loadJobs();
  const dir = folderWith({ 'p.yaml': otherLists, 't.yaml': tests });
  const policies = loadPolicies({ dir, files: [join(dir, 'p.yaml')], registry });

  const loaded = loadTests([join(dir, 't.yaml')], policies);

  expect(loaded.findings).toEqual([]);
  for (const one of loaded.tests)
    expect(await runTest(one, { registry, budget })).toEqual({ differences: [] });
  expect(loaded.tests).toHaveLength(2);
});
