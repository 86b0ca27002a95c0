/** Directly before a change that cannot be undone, what it rests on is read again if it is older than 15 seconds. */
import { expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { reportDispatch } from '../../../jobs/report-dispatch/job.ts';
import { siteSync } from '../../../jobs/site-sync/job.ts';
import { stagingCleanup } from '../../../jobs/staging-cleanup/job.ts';
import type { OperationId } from '../../../src/contract/operations.ts';
import type { AnyJob } from '../../../src/job/job.ts';
import { verifiedOperations } from '../../../src/job/verify.ts';
import type { Policy, Select } from '../../../src/policy/policy.ts';
import { around } from '../../support/between.ts';
import { aPolicy, aPolicyOf } from '../../support/builders.ts';
import type { World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { call, tagged } from '../person.ts';

/** Calls `happen` directly before a run sends an operation for the `nth` time; after it, `passes` have passed. */
function before(
  world: World,
  operation: OperationId,
  nth: number,
  happen: () => Promise<unknown>,
  passes = 20_000,
) {
  let seen = 0;
  around(world.caretaker.link('default').client, 'call', async (send, asked) => {
    if (asked === operation) seen += 1;
    if (asked === operation && seen === nth) {
      seen += 1;
      await happen();
      world.clock.leap(passes);
    }
    return send();
  });
}

async function outcomes(world: World, policy: Policy) {
  const run = await world.ended(await world.fire(policy));
  const targets = await world.targets(run);
  return { run, targets, skipped: targets.filter(({ reason }) => reason === 'changed-since-plan') };
}

const sent = ({ sandbox }: World, operation: OperationId) => sandbox.journal.effectsOf(operation).length;

const reports = (select: Select) =>
  aPolicy({
    name: 'reports',
    job: 'report-dispatch',
    options: reportDispatch.options.parse({
      template: { name: 'Monthly care' },
      period: 'last_week',
      subject: 'For {{client.company_name}}',
    }),
    select,
  });

/** An account with one site that belongs to a client, and a tag on no site. */
async function anAgency() {
  const world = await worldOfTest({ sites: 1 });
  const { clients } = await call(world, 'listClients', {});
  await call(world, 'deleteClients', { body: { ids: clients.map(({ id }) => id) } });
  const [site = ''] = world.sandbox.siteIds();
  const first = { first_name: 'Ada', last_name: 'Berg', company_name: 'One', email: 'ada@one.example' };
  const { client } = await call(world, 'createClient', { body: { client: { ...first, site_ids: [site] } } });
  return { world, site, client, tag_id: await tagged(world, 'no reports', []) };
}

type Agency = Awaited<ReturnType<typeof anAgency>>;
const changeClient =
  (changes: object) =>
  ({ world, client }: Agency) =>
    call(world, 'updateClient', { client_id: client.id, body: { client: changes } });

test.each<[string, (agency: Agency) => Promise<unknown>, Select, RegExp]>([
  [
    'the site belongs to another client',
    async ({ world, site, client }) => {
      const second = { first_name: 'Bo', last_name: 'Lind', company_name: 'Two', email: 'bo@two.example' };
      await call(world, 'updateClient', { client_id: client.id, body: { client: { site_ids: [] } } });
      await call(world, 'createClient', { body: { client: { ...second, site_ids: [site] } } });
    },
    { filters: {} },
    /^It belonged to the client .* when it was planned, and now to /,
  ],
  [
    'the address of the client has changed',
    changeClient({ email: 'ada@new.example' }),
    { filters: {} },
    /ada@one.example.*ada@new.example/,
  ],
  [
    'the name of the client has changed',
    changeClient({ company_name: 'One and Co' }),
    { filters: {} },
    /client.company_name was "One".*"One and Co"/,
  ],
  [
    'the condition of the policy no longer holds for the site',
    ({ world, site, tag_id }) => call(world, 'assignTag', { tag_id, body: { site_ids: [site] } }),
    { filters: {}, where: '!site.tags.exists(t, t.name == "no reports")' },
    /^select.where no longer holds: site.tags: .*no reports/,
  ],
])('a report is not mailed when %s', async (_, change, select, says) => {
  const agency = await anAgency();
  const { world } = agency;
  before(world, 'createReport', 1, () => change(agency));

  const { targets } = await outcomes(world, reports(select));

  const detail = expect.stringMatching(says);
  expect(targets).toMatchObject([{ outcome: 'skipped', reason: 'changed-since-plan', detail }]);
  expect(sent(world, 'sendReportEmail')).toBe(0);
});

/** An account of three sites, each with one old staging copy. */
async function withCopies() {
  const world = await worldOfTest({ sites: 3 });
  const { staging, siteIds } = world.sandbox;
  staging.clear();
  const sites = siteIds();
  for (const site of sites) staging.make(site, 20);
  const tag_id = await tagged(world, 'keep', []);
  const keep = (site_ids: string[]) => call(world, 'assignTag', { tag_id, body: { site_ids } });
  return { world, sites, tag_id, keep };
}

const oneByOne = { limits: { ...aPolicy().limits, concurrency: 1 } };

const cleanup = (options: object) =>
  aPolicy({
    name: 'cleanup',
    job: 'staging-cleanup',
    options: stagingCleanup.options.parse({ action: 'delete', older_than: '14d', grace: 0, ...options }),
    ...oneByOne,
  });

test('a sync that was in progress at the plan and has ended does not keep the note before it from being made', async () => {
  const world = await worldOfTest({ sites: 2, before: quickSyncs });
  // The newer site is the first target.
  const [second = ''] = world.sandbox.siteIds();
  world.sandbox.site(second).syncTakes(3_600_000);
  world.sandbox.site(second).startSync();
  before(world, 'createSiteNote', 1, async () => world.sandbox.site(second).finishSync());
  const note = { operation: 'createSiteNote', body: { note: { content: 'Before the sync.' } } };
  const steps = [
    { name: 'api-call', job: 'api-call', options: apiCall.options.parse(note) },
    { name: 'site-sync', job: 'site-sync', options: siteSync.options.parse({}) },
  ];
  const policy = aPolicyOf(steps);

  const { targets } = await outcomes(world, { ...policy, limits: { ...policy.limits, concurrency: 1 } });

  expect(targets.map(({ id, outcome }) => [id, outcome])).toEqual([
    [expect.not.stringContaining(second), 'succeeded'],
    [second, 'succeeded'],
  ]);
});

test('one reading counts for all targets of the run that come next', async () => {
  // At the machine's own speed, so that the run takes less than 15 seconds.
  const world = await worldOfTest({ sites: 20, speedUp: 1 });
  const { staging, siteIds } = world.sandbox;
  staging.clear();
  for (const site of siteIds()) staging.make(site, 20);
  before(world, 'deleteStagingSite', 1, async () => undefined);

  const { run } = await outcomes(world, cleanup({ unless_tagged: [{ name: 'Shop' }] }));

  expect(run.counts).toMatchObject({ succeeded: run.counts.planned, failed: 0 });
  expect(run.counts.planned).toBeGreaterThan(10);
  expect(run.requestsByOperation?.['listSites']).toBe(2);
});

test('a staging copy is not deleted when its live site was given the keep tag during the run', async () => {
  const { world, sites, keep } = await withCopies();
  before(world, 'deleteStagingSite', 2, () => keep(sites));

  const { skipped } = await outcomes(world, cleanup({ unless_tagged: [{ name: 'keep' }] }));

  expect(skipped).toHaveLength(1);
  expect(skipped[0]?.detail).toBe('Its live site was tagged keep after the plan was made (unless_tagged).');
  expect(sent(world, 'deleteStagingSite')).toBe(2);
});

test('no staging copy is deleted when the tag that keeps some of them was deleted during the run', async () => {
  const { world, sites, tag_id, keep } = await withCopies();
  await keep(sites.slice(0, 1));
  before(world, 'deleteStagingSite', 1, () => call(world, 'deleteTag', { tag_id }));

  const { skipped } = await outcomes(world, cleanup({ unless_tagged: [{ name: 'keep' }] }));

  expect(skipped).toHaveLength(1);
  expect(skipped[0]?.detail).toMatch(/^The account no longer has the tag .* \(unless_tagged\)/);
});

/** A call for each item that is selected. */
const calling = (options: object, select: Select, changes: Partial<Policy> = {}) =>
  aPolicy({ job: 'api-call', options: apiCall.options.parse(options), select, ...oneByOne, ...changes });

test.each<[string, number, Partial<Policy>, number]>([
  ['is not made when a joined item of its condition has changed', 20_000, {}, 2],
  [
    'is not made either when the clock went back meanwhile: the plan seems to be of the future',
    -3_600_000,
    {},
    2,
  ],
  ['is made where the policy allows older facts', 20_000, { recheck: { maxAgeMs: 3_600_000 } }, 0],
])('a call %s', async (_, passes, changes, left) => {
  const { world, sites, keep } = await withCopies();
  before(world, 'deleteStagingSite', 1, () => keep(sites), passes);
  const unlessTagged: Select = {
    from: 'listStagingSites',
    filters: {},
    join: { live: { list: 'listSites', on: 'site.id == staging.site_id', filters: {} } },
    where: '!live.tags.exists(t, t.name == "keep")',
  };

  const options = { operation: 'deleteStagingSite', confirm: 'deleteStagingSite' };
  const { skipped } = await outcomes(world, calling(options, unlessTagged, changes));

  const detail = expect.stringMatching(/^select.where no longer holds: live.tags: .*keep/);
  expect(skipped).toMatchObject(Array.from({ length: left }, () => ({ detail })));
});

test.each<[string, (tag: string) => Partial<Select>, RegExp]>([
  [
    'that the filters of the policy no longer select',
    (tag) => ({ filters: { tags: { in: [tag] } } }),
    /^The filters of the policy no longer select it: site.tags/,
  ],
  [
    'about which the condition has no answer any more',
    () => ({ where: 'site.tags.filter(t, t.name == "keep")[0].name == "keep"' }),
    /^The condition could not be evaluated for a site/,
  ],
])('a call is not made for a site %s', async (_, select, says) => {
  const { world, sites, tag_id, keep } = await withCopies();
  await keep(sites);
  before(world, 'disableSiteActivityLogs', 1, () =>
    call(world, 'removeTag', { tag_id, body: { site_ids: sites } }),
  );
  const options = { operation: 'disableSiteActivityLogs', confirm: 'disableSiteActivityLogs' };

  const policy = calling(options, { from: 'listSites', filters: {}, ...select(tag_id) });
  const { targets, skipped } = await outcomes(world, policy);

  expect(targets).toHaveLength(3);
  expect(skipped).toHaveLength(2);
  expect(skipped[0]?.detail).toMatch(says);
});

test('a value that a call takes from its target has to be the one that was planned', async () => {
  const { world, sites } = await withCopies();
  before(world, 'createSiteNote', 1, () =>
    Promise.all(
      sites.map((site_id) =>
        call(world, 'updateSite', { site_id, body: { site: { url: `https://new-${site_id}.example` } } }),
      ),
    ),
  );
  const body = { note: { content: { cel: 'site.url' } } };

  const { skipped } = await outcomes(
    world,
    calling({ operation: 'createSiteNote', body }, { from: 'listSites', filters: {} }),
  );

  expect(skipped.map(({ detail }) => detail)).toEqual(
    Array.from({ length: 2 }, () => 'The value of body.note.content is not the one that was planned.'),
  );
});

test.each([
  { job: siteSync, options: { mode: 'all' } },
  { job: apiCall, options: { operation: 'syncSite' } },
  { job: apiCall, options: { operation: 'enableSiteActivityLogs', undoable: true } },
  { job: stagingCleanup, options: { action: 'report', older_than: '14d' } },
])('work that does no harm reads nothing again ($options)', ({ job, options }) => {
  expect(verifiedOperations(job as AnyJob, job.options.parse(options))).toEqual([]);
});
