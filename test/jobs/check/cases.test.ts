/** Further cases that people ask for as a check: those over two lists, over single views, and over logs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type World } from '../../support/caretaker.ts';
import { asPerson } from '../acting.ts';
import { checkOf, mistakesIn } from './policies.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ sites: 30, speedUp: 5 });
});
afterAll(() => world.stop());

const call = asPerson(() => world);

async function checked(select: string, options?: string) {
  const run = await world.ended(await world.fire(checkOf(select, options)));
  const targets = await world.targets(run);
  return {
    found: targets.filter(({ reason }) => reason === 'found').map(({ id }) => id),
    messages: Object.fromEntries(targets.map(({ id, findings }) => [id, findings?.[0]?.message])),
    unknown: targets.filter(({ reason }) => reason === 'not-eligible').map(({ id, detail }) => [id, detail]),
    requests: run.requestsByOperation,
  };
}

describe('a core with a known vulnerability', () => {
  test('is found in the single views, which are read only where that decides', async () => {
    const [a = '', b = ''] = world.sandbox.siteIds();
    world.sandbox.site(a).coreIs({ vulnerable: true });
    world.sandbox.site(b).coreIs({ vulnerable: false });
    const connected = (await call('listSites', { filters: { connection_status: { eq: 'connected' } } }))
      .sites;

    const { found, requests } = await checked(
      '{ from: listSites, where: site.connection.status == "connected" && site.wp.core.vulnerable, single_views: 1000 }',
      '{ severity: error, message: "Core {{site.wp.core.current_version}} has a known vulnerability" }',
    );

    expect(found).toContain(a);
    expect(found).not.toContain(b);
    expect(requests).toMatchObject({ listSites: 1, showSite: connected.length });
  });

  test('is unknown where no more single views may be read', async () => {
    const { unknown, requests } = await checked(
      '{ from: listSites, where: site.wp.core.vulnerable, single_views: 2 }',
    );

    expect(requests).toMatchObject({ showSite: 2 });
    expect(unknown).toHaveLength(world.sandbox.siteIds().length - 2);
    expect(unknown[0]?.[1]).toMatch('The service does not show site.wp.core.vulnerable');
  });

  test('credentials of a single view cannot be asked for', () => {
    expect(mistakesIn('{ from: listSites, where: site.connection.http_auth.username == "" }')[0]).toMatch(
      'site.connection has no field "http_auth"',
    );
    expect(mistakesIn('{ from: listStagingSites, where: staging.credentials.server.host == "" }')[0]).toMatch(
      'staging has no field "credentials"',
    );
  });
});

test('the activity of a user on all sites', async () => {
  const { sites } = await call('listSites', {});
  const logged = sites.filter((site) => site.activity_logs?.enabled);
  const { activity_logs: logs } = await call('listSiteActivityLogs', { site_id: logged[0]?.id ?? '' });
  const name = logs.find(({ username = '' }) => username !== '')?.username ?? '';

  const { found, requests, messages } = await checked(
    `{ from: listSiteActivityLogs, for_each: { list: listSites, where: site.activity_logs.enabled }, filters: { username: { eq: "${name}" } } }`,
    '{ severity: info, message: "{{activity.username}} {{activity.event_type}} {{activity.object_type}} on {{site.url}}" }',
  );

  const own = logs.filter(({ username }) => username === name).map(({ id }) => `${logged[0]?.id}/${id}`);
  expect(found).toEqual(expect.arrayContaining(own));
  expect(messages[own[0] ?? '']).toContain(`${name} `);
  expect(requests?.['listSites']).toBe(1);
});

test('sites that are down, or whose uptime nobody watches', async () => {
  const { sites } = await call('listSites', {});
  const { found } = await checked(
    '{ from: listSites, where: \'!site.uptime.enabled || site.uptime.status != "up"\' }',
  );

  const expected = sites.filter(({ uptime }) => !uptime?.enabled || uptime.status !== 'up');
  expect(found.sort()).toEqual(expected.map(({ id }) => id).sort());
});

test('updates that failed, from the history of auto updates', async () => {
  const { found } = await checked(
    '{ from: listAutoUpdateHistory, filters: { status: { in: [failed, aborted] } } }',
    '{ message: "{{auto_update.auto_update_schedule.name}}: {{auto_update.status}}" }',
  );
  const { auto_update_history: all } = await call('listAutoUpdateHistory', { perPage: 100 });
  const failed = all.filter(({ status = '' }) => ['failed', 'aborted'].includes(status));
  expect(found.sort()).toEqual(
    failed
      .map(({ auto_update_schedule, performed_on }) => `${auto_update_schedule?.id}@${performed_on}`)
      .sort(),
  );
});
