/** Directly before a change that cannot be undone, what it rests on is read again if it is older than 15 seconds. */
import { expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { reportDispatch } from '../../../jobs/report-dispatch/job.ts';
import { siteSync } from '../../../jobs/site-sync/job.ts';
import { stagingCleanup } from '../../../jobs/staging-cleanup/job.ts';
import type { Input, OperationId } from '../../../src/contract/operations.ts';
import type { AnyJob } from '../../../src/job/job.ts';
import { verifiedOperations } from '../../../src/job/verify.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { around } from '../../support/between.ts';
import { aPolicy, aPolicyOf } from '../../support/builders.ts';
import type { World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';
import { worldOfTest } from '../../support/world-of-test.ts';

const call = <Id extends OperationId>(world: World, operation: Id, input: Input<Id>) =>
  world.caretaker.link('default').client.call(operation, input, { requestClass: 'person' });

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

const reports = (options: object = {}, changes: Partial<Policy> = {}) =>
  aPolicy({
    name: 'reports',
    job: 'report-dispatch',
    options: reportDispatch.options.parse({
      template: { name: 'Monthly care' },
      period: 'last_week',
      subject: 'For {{client.company_name}}',
      ...options,
    }),
    ...changes,
  });

/** An account with one site that belongs to a client. */
async function anAgency() {
  const world = await worldOfTest({ sites: 1 });
  const { clients } = await call(world, 'listClients', {});
  await call(world, 'deleteClients', { body: { ids: clients.map(({ id }) => id) } });
  const [site = ''] = world.sandbox.siteIds();
  const first = { first_name: 'Ada', last_name: 'Berg', company_name: 'One', email: 'ada@one.example' };
  const { client } = await call(world, 'createClient', { body: { client: { ...first, site_ids: [site] } } });
  return { world, site, client };
}

test('a report is not mailed to the former client of a site', async () => {
  const { world, site, client } = await anAgency();
  const second = { first_name: 'Bo', last_name: 'Lind', company_name: 'Two', email: 'bo@two.example' };
  before(world, 'createReport', 1, async () => {
    await call(world, 'updateClient', { client_id: client.id, body: { client: { site_ids: [] } } });
    await call(world, 'createClient', { body: { client: { ...second, site_ids: [site] } } });
  });

  const { targets } = await outcomes(world, reports());

  expect(targets).toMatchObject([{ outcome: 'skipped', reason: 'changed-since-plan' }]);
  expect(targets[0]?.detail).toMatch(/^It belonged to the client .* when it was planned, and now to /);
  expect(sent(world, 'sendReportEmail')).toBe(0);
});

test.each([
  { what: 'address', change: { email: 'ada@new.example' }, says: /ada@one.example.*ada@new.example/ },
  {
    what: 'name',
    change: { company_name: 'One and Co' },
    says: /client.company_name was "One".*"One and Co"/,
  },
])('a report is not mailed when the $what of the client has changed', async ({ change, says }) => {
  const { world, client } = await anAgency();
  before(world, 'createReport', 1, () =>
    call(world, 'updateClient', { client_id: client.id, body: { client: change } }),
  );

  const { targets } = await outcomes(world, reports());

  expect(targets).toMatchObject([{ reason: 'changed-since-plan', detail: expect.stringMatching(says) }]);
  expect(sent(world, 'sendReportEmail')).toBe(0);
});

test('a report is not mailed when the condition of the policy no longer holds for the site', async () => {
  const { world, site } = await anAgency();
  const { tag } = await call(world, 'createTag', { body: { tag: { name: 'no reports' } } });
  before(world, 'createReport', 1, () =>
    call(world, 'assignTag', { tag_id: tag.id, body: { site_ids: [site] } }),
  );

  const where = '!site.tags.exists(t, t.name == "no reports")';
  const { targets } = await outcomes(world, reports({}, { select: { filters: {}, where } }));

  expect(targets[0]?.detail).toMatch(/^select.where no longer holds: site.tags: .*no reports/);
  expect(sent(world, 'sendReportEmail')).toBe(0);
});

/** An account of three sites, each with one old staging copy. */
async function withCopies() {
  const world = await worldOfTest({ sites: 3 });
  const { staging, siteIds } = world.sandbox;
  staging.clear();
  const sites = siteIds();
  const copies = sites.map((site) => staging.make(site, 20));
  const { tag } = await call(world, 'createTag', { body: { tag: { name: 'keep' } } });
  const keep = (site_ids: string[]) => call(world, 'assignTag', { tag_id: tag.id, body: { site_ids } });
  return { world, sites, copies, tag, keep };
}

const oneByOne = { limits: { ...aPolicy().limits, concurrency: 1 } };

const cleanup = (options: object, changes: Partial<Policy> = {}) =>
  aPolicy({
    name: 'cleanup',
    job: 'staging-cleanup',
    options: stagingCleanup.options.parse({ action: 'delete', older_than: '14d', grace: 0, ...options }),
    ...oneByOne,
    ...changes,
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
  const { world, sites, tag, keep } = await withCopies();
  await keep(sites.slice(0, 1));
  before(world, 'deleteStagingSite', 1, () => call(world, 'deleteTag', { tag_id: tag.id }));

  const { skipped } = await outcomes(world, cleanup({ unless_tagged: [{ name: 'keep' }] }));

  expect(skipped).toHaveLength(1);
  expect(skipped[0]?.detail).toMatch(/^The account no longer has the tag .* \(unless_tagged\)/);
});

/** A call that deletes each copy whose live site is not tagged: the tag is of a joined item. */
const deletion = (select: object, changes: Partial<Policy> = {}) =>
  aPolicy({
    name: 'deletion',
    job: 'api-call',
    options: apiCall.options.parse({ operation: 'deleteStagingSite', confirm: 'deleteStagingSite' }),
    select: { from: 'listStagingSites', filters: {}, ...select },
    ...oneByOne,
    ...changes,
  });

const unlessTagged = {
  join: { live: { list: 'listSites', on: 'site.id == staging.site_id', filters: {} } },
  where: '!live.tags.exists(t, t.name == "keep")',
};

test('a call is not made when a joined item of its condition has changed', async () => {
  const { world, sites, keep } = await withCopies();
  before(world, 'deleteStagingSite', 1, () => keep(sites));

  const { skipped } = await outcomes(world, deletion(unlessTagged));

  expect(skipped).toHaveLength(2);
  expect(skipped[0]?.detail).toMatch(/^select.where no longer holds: live.tags: .*keep/);
});

test('nor when the clock went back an hour meanwhile, so that the plan seems to be of the future', async () => {
  const { world, sites, keep } = await withCopies();
  before(world, 'deleteStagingSite', 1, () => keep(sites), -3_600_000);

  const { skipped } = await outcomes(world, deletion(unlessTagged));

  expect(skipped).toHaveLength(2);
});

test('facts may be older where the policy says so', async () => {
  const { world, sites, keep } = await withCopies();
  before(world, 'deleteStagingSite', 1, () => keep(sites));

  const { skipped } = await outcomes(world, deletion(unlessTagged, { recheck: { maxAgeMs: 3_600_000 } }));

  expect(skipped).toEqual([]);
});

test('a call is not made for a site that the filters of the policy no longer select', async () => {
  const { world, sites, tag, keep } = await withCopies();
  await keep(sites);
  before(world, 'disableSiteActivityLogs', 1, () =>
    call(world, 'removeTag', { tag_id: tag.id, body: { site_ids: sites } }),
  );
  const options = { operation: 'disableSiteActivityLogs', confirm: 'disableSiteActivityLogs' };

  const { skipped } = await outcomes(
    world,
    aPolicy({
      job: 'api-call',
      options: apiCall.options.parse(options),
      select: { from: 'listSites', filters: { tags: { in: [tag.id] } } },
      ...oneByOne,
    }),
  );

  expect(skipped).toHaveLength(2);
  expect(skipped[0]?.detail).toMatch(/^The filters of the policy no longer select it: site.tags/);
});

test('a call is not made for a site about which the condition has no answer any more', async () => {
  const { world, sites, tag, keep } = await withCopies();
  await keep(sites);
  before(world, 'disableSiteActivityLogs', 1, () =>
    call(world, 'removeTag', { tag_id: tag.id, body: { site_ids: sites } }),
  );
  const options = { operation: 'disableSiteActivityLogs', confirm: 'disableSiteActivityLogs' };
  const where = 'site.tags.filter(t, t.name == "keep")[0].name == "keep"';

  const { targets, skipped } = await outcomes(
    world,
    aPolicy({
      job: 'api-call',
      options: apiCall.options.parse(options),
      select: { from: 'listSites', filters: {}, where },
      ...oneByOne,
    }),
  );

  expect(targets).toHaveLength(3);
  expect(skipped).toHaveLength(2);
  expect(skipped[0]?.detail).toMatch(/^The condition could not be evaluated for a site/);
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
    aPolicy({
      job: 'api-call',
      options: apiCall.options.parse({ operation: 'createSiteNote', body }),
      select: { from: 'listSites', filters: {} },
      ...oneByOne,
    }),
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
