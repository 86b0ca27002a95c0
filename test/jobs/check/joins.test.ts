/** Checks over two lists that belong together: sites and their schedules, reports and their senders. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Input, ListId } from '../../../src/contract/operations.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { asPerson } from '../acting.ts';
import { checkOf, mistakesIn } from './policies.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ sites: 40 });
});
afterAll(() => world.stop());

const call = asPerson(() => world);
const listed = <Id extends ListId>(id: Id, query: object = {}) =>
  call(id, { perPage: 100, ...query } as unknown as Input<Id>);

async function checked(select: string, options?: string) {
  const run = await world.ended(await world.fire(checkOf(select, options)));
  const targets = await world.targets(run);
  return {
    found: targets.filter(({ reason }) => reason === 'found').map(({ id }) => id),
    messages: Object.fromEntries(targets.map(({ id, findings }) => [id, findings?.[0]?.message])),
    requests: run.requests,
  };
}

const schedules = (where: string) =>
  `{ from: listSites, join: { schedules: { list: listAutoUpdateSchedules, filters: { status: { eq: active } }, on: 'schedule.scope.sites.selection == "all" || site.id in schedule.scope.sites.ids' } }, where: '${where}' }`;

test('sites without an active auto update schedule, and the names of those that have one', async () => {
  const { auto_update_schedules: all } = await listed('listAutoUpdateSchedules', {
    filters: { status: { eq: 'active' } },
  });
  const covers =
    (id: string) =>
    ({ scope }: (typeof all)[number]) =>
      scope?.sites?.selection === 'all' || scope?.sites?.ids?.includes(id) === true;
  const without = await checked(schedules('schedules.size() == 0'));
  const having = await checked(
    schedules('schedules.size() > 0'),
    '{ message: "{{schedules.map(s, s.name)}}" }',
  );

  const ids = world.sandbox.siteIds();
  const isCovered = (id: string) => all.some(covers(id));
  expect(without.found.sort()).toEqual(ids.filter((id) => !isCovered(id)).sort());
  expect(having.found.sort()).toEqual(ids.filter(isCovered).sort());
  for (const id of having.found)
    expect(having.messages[id]).toBe(
      all
        .filter(covers(id))
        .map(({ name }) => name)
        .join(', '),
    );
  expect(without.found.length + having.found.length).toBe(ids.length);
  expect(having.found.length).toBeGreaterThan(0);
  // One page of each list.
  expect(having.requests).toBe(2);
});

test('staging copies with their live site; a site that is gone is asked for with an empty id', async () => {
  const [live = '', gone = ''] = world.sandbox.siteIds();
  const copy = world.sandbox.staging.make(live, 1);
  const orphan = world.sandbox.staging.make(gone, 1);
  const { sites } = await listed('listSites');
  const url = sites.find(({ id }) => id === live)?.url;
  await call('deleteSite', { site_id: gone });
  const joined = (where: string) =>
    `{ from: listStagingSites, join: { site: { list: listSites, on: site.id == staging.site_id } }, where: '${where}' }`;

  const orphans = await checked(joined('site.id == ""'));
  const others = await checked(joined('site.id != ""'), '{ message: "A copy of {{site.url}}" }');

  const { staging_sites: left } = await listed('listStagingSites');
  if (left.some(({ id }) => id === orphan)) expect(orphans.found).toContain(orphan);
  expect(orphans.found).not.toContain(copy);
  expect(others.messages[copy]).toBe(`A copy of ${url}`);
});

test('reports whose sender email is not verified', async () => {
  const { sender_emails: senders } = await listed('listSenderEmails');
  const { reports } = await listed('listReports');
  const statusOf = ({ email }: (typeof reports)[number]) =>
    senders.find(({ id }) => id === email?.sender_email?.id)?.status;

  const { found } = await checked(
    '{ from: listReports, join: { sender: { list: listSenderEmails, on: sender.id == report.email.sender_email.id } }, where: sender.status != "verified" }',
  );

  const expected = reports.filter((one) => statusOf(one) !== 'verified').map(({ id }) => id);
  expect(found.sort()).toEqual(expected.sort());
});

describe('mistakes are found when the policy is loaded', () => {
  const join = (on: string, name = 'schedules', list = 'listAutoUpdateSchedules') =>
    `{ from: listSites, join: { ${name}: { list: ${list}, on: '${on}' } } }`;

  test.each([
    [join('schedule.site_id == site.id'), 'schedule has no field "site_id". available: id, name'],
    [
      join('site.id in schedule.scope.sites.ids', 'site'),
      '"site" is the name of another variable. choose another name',
    ],
    [
      join('site.url == site.url', 'others', 'listSites'),
      'listSites is where candidates come from, and cannot be joined to itself.',
    ],
    [
      `{ from: listSites, join: { schedules: { list: listAutoUpdateSchedules, on: site.id in schedule.scope.sites.ids } }, where: schedules.name == "x" }`,
      'schedules is a list, which has no field "name". ask for its items: schedules.exists(one, one.name == ...)',
    ],
    [
      '{ from: listStagingSites, join: { site: { list: listSites, on: site.id == staging.site_id } }, where: site.titel == "x" }',
      'site has no field "titel". did you mean title?',
    ],
    [
      '{ from: listSites, join: { notes: { list: listSiteNotes, on: note.id == site.id } } }',
      '"list" must be listSites, listStagingSites, ',
    ],
  ])('%s', (select, mistake) => {
    const mistakes = mistakesIn(select);
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]).toContain(mistake);
  });
});
