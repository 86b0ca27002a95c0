/** A plan is made on Friday, agreed to over the weekend, and applied on Monday. */
import { afterEach, expect, test } from 'vitest';
import { siteSync } from '../../jobs/site-sync/job.ts';
import { hashOfPlan } from '../../src/engine/plan/saved-plan.ts';
import { around } from '../support/between.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import { healthySites } from '../support/quick-syncs.ts';
import { applySaved, forged, savePlanOf } from '../support/saved-plans.ts';

const FRIDAY = Date.parse('2026-11-20T16:00:00Z');
const HOUR = 3_600_000;

let world: World;
afterEach(() => world.stop());

const notes = (options: object = {}) =>
  aPolicy({
    name: 'maintenance',
    job: 'api-call',
    // The clock runs too fast for what is read while the plan is applied to count for 15 seconds.
    recheck: { maxAgeMs: HOUR },
    select: {
      from: 'listSites',
      filters: { connection_status: { eq: 'connected' } },
      where: '!site.locked && site.created_at < now',
    },
    options: {
      operation: 'createSiteNote',
      body: { note: { content: { cel: '"Maintenance of " + site.url' } } },
      ...options,
    },
  });

const ours = (id: string) =>
  world.sandbox
    .site(id)
    .notes()
    .filter((text) => text.startsWith('Maintenance'));

async function sixSites() {
  world = await startWorld({ sites: 6, from: FRIDAY, before: healthySites });
  return world.sandbox.siteIds() as [string, string, string, string, string, string];
}

const outcomes = async (run: string) =>
  Object.fromEntries(
    (await world.targets(run)).map(({ id, reason, detail }) => [id, [reason, detail ?? '']]),
  );

test('on Monday, sites that changed are left out with what differs, and the rest gets what was planned', async () => {
  const [same, locked, off, moved, gone, other] = await sixSites();
  const saved = await savePlanOf(world, notes({ once: 'maintenance-{{run.date}}' }));
  const labels = new Map(saved.targets.map(({ id, label }) => [id, label]));
  world.clock.leap(64 * HOUR);
  world.sandbox.site(locked).lock(true);
  world.sandbox.site(off).disconnect();
  world.sandbox.site(moved).isCalled({ url: 'https://moved.example' });
  const person = { requestClass: 'person' } as const;
  await world.caretaker.link('default').client.call('deleteSite', { site_id: gone }, person);

  const run = await world.ended(await applySaved(world, saved));

  expect(run).toMatchObject({ status: 'succeeded', counts: { planned: 6, succeeded: 2, skipped: 4 } });
  expect(run.id).toMatch(new RegExp(`^maintenance\\.20261120T16\\d{4}Z-plan-${saved.hash.slice(0, 12)}$`));
  const why = 'changed-since-plan';
  expect(await outcomes(run.id)).toMatchObject({
    [same]: ['done', ''],
    [other]: ['done', ''],
    [locked]: [why, 'site.locked: false → true'],
    [off]: [why, 'site.connection.status: connected → disconnected'],
    [moved]: [why, `site.url: ${labels.get(moved)} → https://moved.example`],
    [gone]: [why, 'It is no longer in the account.'],
  });
  for (const id of [same, other]) expect(ours(id)).toEqual([`Maintenance of ${labels.get(id)}`]);
  for (const id of [locked, off, moved]) expect(ours(id)).toEqual([]);
  // One page to read the preconditions again, and one request for each site that is no longer listed.
  expect(run.requestsByOperation).toMatchObject({ listSites: 1 + 3, createSiteNote: 2 });
});

test('a plan makes one run, no matter who applies it and how often', async () => {
  await sixSites();
  const saved = await savePlanOf(world, notes());
  const another = await world.another();

  const both = await Promise.allSettled([applySaved(world, saved), another.engine.apply(saved, {})]);
  const [first] = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const run = await world.ended(first ?? '');

  await expect(applySaved(world, saved)).rejects.toThrow(
    `This plan was applied already: by the run ${run.id}, which ended succeeded.`,
  );
  expect(world.sandbox.journal.effectsOf('createSiteNote')).toHaveLength(6);
});

test('a plan can be applied after a process died before it created the run, and one that dies after it is succeeded by another', async () => {
  await sixSites();
  const saved = await savePlanOf(world, notes());
  const { records } = world.caretaker;
  /** The process dies at the first call. */
  const dying = () => {
    let calls = 0;
    return <T>(call: () => Promise<T>): Promise<T> => {
      calls += 1;
      return calls === 1 ? Promise.reject(new Error('The process died.')) : call();
    };
  };
  around(records.runs, 'create', dying());
  await expect(applySaved(world, saved)).rejects.toThrow('The process died.');
  expect(world.sandbox.journal.effects).toEqual([]);

  // While it looks at the targets again.
  around(records.planned, 'add', dying());
  const run = await world.ended(await applySaved(world, saved));

  expect(run.counts).toMatchObject({ planned: 6, succeeded: 6 });
  expect(world.sandbox.journal.effectsOf('createSiteNote')).toHaveLength(6);
});

test('whatever the job asks for, nothing is sent that the plan of the target does not have', async () => {
  const [first] = await sixSites();
  const saved = await savePlanOf(world, notes());
  const cut = forged(saved, ({ targets }) => {
    for (const target of targets) if (target.id !== first) target.requests = [];
  });
  expect(cut.hash).toBe(hashOfPlan(cut));

  const run = await world.ended(await applySaved(world, cut));

  expect(world.sandbox.journal.effectsOf('createSiteNote')).toHaveLength(1);
  expect(run.counts).toMatchObject({ succeeded: 1, skipped: 5 });
  const { [first]: _made, ...others } = await outcomes(run.id);
  for (const end of Object.values(others))
    expect(end).toEqual([
      'changed-since-plan',
      'The job would call createSiteNote now, but the plan does not have it. It was not called.',
    ]);
});

test('a plan that has expired, or while a run of the policy is active, is refused and starts nothing', async () => {
  const ids = await sixSites();
  for (const id of ids) world.sandbox.site(id).syncTakes(HOUR);
  const sync = aPolicy({ options: siteSync.options.parse({}) });
  const saved = await savePlanOf(world, sync, { expiresMs: 2 * HOUR });
  const active = await world.fire(sync);
  await world.ended(active, ({ status }) => status === 'running');
  await expect(applySaved(world, saved)).rejects.toThrow(
    `the run ${active.id} of the policy nightly-sync is still running`,
  );
  await world.caretaker.engine.forceEnd(active.id);
  world.clock.leap(3 * HOUR);
  await expect(applySaved(world, saved)).rejects.toThrow(
    /^This plan has expired: it was made at 2026-11-20 16:/,
  );
});

test('a plan is not saved when it is not known what would be sent, with a sentence that says why', async () => {
  await sixSites();
  const graced = aPolicy({
    job: 'api-call',
    select: { from: 'listSites', filters: {} },
    options: { operation: 'deleteSite', confirm: 'deleteSite', grace: 3 * 24 * HOUR },
  });
  await expect(savePlanOf(world, graced)).rejects.toThrow(
    /^The plan was not saved: for 6 of 6 targets it is not known what would be sent\. It has the time at which it is sent/,
  );
});
