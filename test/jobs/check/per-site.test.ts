/** Checks over the lists that each site has: notes, custom work, activity logs, snapshots. */
import { describe, expect, test } from 'vitest';
import { toSummary } from '../../../src/run/report.ts';
import type { World } from '../../support/caretaker.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { asPerson } from '../acting.ts';
import { checkOf, mistakesIn } from './policies.ts';

let world: World;
/** A world of six sites; gives the ids of the first three. */
async function start(): Promise<[string, string, string]> {
  world = await worldOfTest({ sites: 6, speedUp: 5 });
  const [a = '', b = '', c = ''] = world.sandbox.siteIds();
  return [a, b, c];
}

const call = asPerson(() => world);

async function writeNote(site_id: string, content: string): Promise<string> {
  const { note } = await call('createSiteNote', { site_id, body: { note: { content } } });
  return `${site_id}/${note.id}`;
}

/** Runs a check to its end. */
async function checked(select: string, options?: string, only?: string[]) {
  const run = await world.ended(await world.fire(checkOf(select, options), only));
  const targets = await world.targets(run);
  const { findings } = toSummary(run);
  return {
    run,
    targets,
    found: targets.filter(({ reason }) => reason === 'found').map(({ id }) => id),
    messages: Object.fromEntries(targets.map(({ id, findings: own }) => [id, own?.[0]?.message])),
    unread: targets.filter(({ reason }) => reason === 'not-eligible').map(({ id, detail }) => [id, detail]),
    changes: findings && { open: findings.open, new: findings.new, resolved: findings.resolved },
  };
}

const old = '{ from: listSiteNotes, for_each: listSites, where: \'note.content.contains("outdated")\' }';

test('a check reads the notes of each site, and knows the site of each note, also in its condition', async () => {
  const [a, b] = await start();
  const first = await writeNote(a, 'This is outdated.');
  const second = await writeNote(b, 'So is this: outdated.');
  await writeNote(b, 'Call before updates.');

  const { found, messages, run, targets } = await checked(
    old,
    '{ message: "{{site.url}}: {{note.content}}" }',
  );

  const { sites } = await call('listSites', {});
  const urlOf = (id: string) => sites.find((site) => site.id === id)?.url;
  expect(found.sort()).toEqual([first, second].sort());
  expect(messages[first]).toBe(`${urlOf(a)}: This is outdated.`);
  expect(targets.find(({ id }) => id === first)?.label).toMatch(`${urlOf(a)}: `);
  // One page of sites, and one list for each of the six.
  expect(run.requests).toBe(7);

  const ofA = await checked(
    `{ from: listSiteNotes, for_each: listSites, where: 'site.id == "${a}" && note.content.contains("outdated")' }`,
  );
  expect(ofA.found).toEqual([first]);

  // A limit counts the items of all lists, which the plan has read; a check makes no change that it could stop.
  const policy = checkOf(old);
  const limits = { ...policy.limits, maxPercent: 1 };
  const { cost, stoppedBy } = await world.caretaker.engine.preview({ ...policy, limits });
  expect([cost.planning, stoppedBy]).toEqual([7, undefined]);
});

test('sites are selected by filters and a condition of their own: only their lists are read', async () => {
  const [a, b, c] = await start();
  world.sandbox.site(b).disconnect();
  const of = await writeNote(a, 'outdated');
  await writeNote(b, 'outdated');
  await writeNote(c, 'outdated');

  const policy = checkOf(
    `{ from: listSiteNotes, for_each: { list: listSites, filters: { connection_status: { eq: connected } }, where: 'site.id != "${c}"' } }`,
  );
  const { ended, excluded, cost } = await world.caretaker.engine.preview(policy);

  expect(ended.map(({ id }) => id)).toContain(of);
  expect(ended.some(({ id }) => id.startsWith(b) || id.startsWith(c))).toBe(false);
  expect(excluded).toMatchObject([{ id: c, why: 'select.for_each.where does not hold' }]);
  const { sites } = await call('listSites', { filters: { connection_status: { eq: 'connected' } } });
  expect(cost.planning).toBe(1 + sites.length - 1);
});

test('what a site refuses to show is unknown: it is reported, and resolves nothing', async () => {
  await start();
  const { sites } = await call('listSites', {});
  const logged = sites.filter((site) => site.activity_logs?.enabled).map(({ id }) => id);
  const [a = ''] = logged;
  const logins =
    '{ from: listSiteActivityLogs, for_each: listSites, filters: { event_type: { eq: login } } }';

  const before = await checked(logins);
  const ofA = before.found.filter((id) => id.startsWith(`${a}/`));
  expect(ofA.length).toBeGreaterThan(0);
  expect(before.unread.map(([id]) => id).sort()).toEqual(
    sites.flatMap(({ id }) => (logged.includes(id) ? [] : [id])).sort(),
  );
  await call('disableSiteActivityLogs', { site_id: a });
  const after = await checked(logins);

  expect(after.found.some((id) => id.startsWith(`${a}/`))).toBe(false);
  expect(after.unread).toContainEqual([
    a,
    'listSiteActivityLogs could not be read (HTTP 422): Activity logging is not enabled on this site.',
  ]);
  expect(after.changes).toMatchObject({ resolved: 0 });
  expect(after.run.status).toBe('succeeded');
});

test('a note that was removed is resolved, and so are the notes of a site that is gone', async () => {
  const [a, b] = await start();
  const kept = await writeNote(a, 'outdated');
  const removed = await writeNote(a, 'outdated too');
  await writeNote(b, 'outdated');
  expect((await checked(old)).changes).toEqual({ open: 3, new: 3, resolved: 0 });

  await call('deleteSiteNote', { site_id: a, note_id: removed.split('/')[1] ?? '' });
  await call('deleteSite', { site_id: b });
  const { found, changes } = await checked(old);

  expect(found).toEqual([kept]);
  expect(changes).toEqual({ open: 1, new: 0, resolved: 2 });
});

test('a named note costs the requests of its site alone, and a named site means all its notes', async () => {
  const [a, b] = await start();
  const first = await writeNote(a, 'outdated');
  const second = await writeNote(a, 'outdated too');
  await writeNote(b, 'outdated');

  const one = await checked(old, undefined, [first]);
  const all = await checked(old, undefined, [a]);
  const missing = await checked(old, undefined, [`${a}/note-none`]);

  expect(one.found).toEqual([first]);
  expect(one.run.requests).toBe(2);
  expect(all.found.sort()).toEqual([first, second].sort());
  expect(missing.targets).toMatchObject([{ id: `${a}/note-none`, outcome: 'skipped' }]);

  // A site that refuses its list does not show whether it has the entry.
  const { sites } = await call('listSites', {});
  const { id } = sites.find((site) => site.activity_logs?.enabled === false) ?? { id: '' };
  const logs = '{ from: listSiteActivityLogs, for_each: listSites }';
  const refused = await checked(logs, undefined, [`${id}/activity-1`]);
  expect(refused.targets).toMatchObject([
    { id: `${id}/activity-1`, outcome: 'skipped', reason: 'not-eligible' },
  ]);
  expect(refused.targets[0]?.detail).toMatch('HTTP 422');
});

describe('mistakes are found when the policy is loaded', () => {
  test.each([
    [
      '{ from: listSiteNotes }',
      'listSiteNotes is a list that each item of listSites has. add for_each: listSites',
    ],
    [
      '{ from: listTags, for_each: listSites }',
      'listTags is one list for the whole account, so "for_each" does not apply to it. remove it',
    ],
    [
      '{ from: listSiteNotes, for_each: listTags }',
      '"for_each" must be listSites, or { list, filters, where }.',
    ],
    [
      '{ from: listSiteNotes, for_each: { list: listSites, where: note.content == "" } }',
      '"note" is not a variable. available: site, now',
    ],
    [
      '{ from: listSiteNotes, for_each: listSites, where: nota.content == "" }',
      '"nota" is not a variable. did you mean note?',
    ],
    [
      '{ from: listSiteNotes, for_each: { list: listSites, filters: { tag: { in: ["1"] } } } }',
      'Cannot filter by "tag". did you mean tags?',
    ],
  ])('%s', (select, mistake) => {
    expect(mistakesIn(select)).toEqual([mistake]);
  });
});
