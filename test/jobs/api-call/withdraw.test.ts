/** An announcement whose target the policy no longer selects is withdrawn, and announced again later. */
import { describe, expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { RejectedError } from '../../../src/client/errors.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { around } from '../../support/between.ts';
import { aPolicyOf } from '../../support/builders.ts';
import type { World, WorldOptions } from '../../support/caretaker.ts';
import { deletionAfter } from '../../support/old-copies.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { asPerson, effectsIn, targetsAfter } from '../acting.ts';

const DAY = 86_400_000;
let world: World;

const deletion = (changes: Partial<Policy> = {}): Policy => ({ ...deletionAfter('1d'), ...changes });
/** The same policy, which selects nothing. */
const nothing = deletionAfter('1d', 'staging.id == "another"');
const another = { ...nothing, name: 'another' };

const runOf = (policy: Policy) => targetsAfter(world, policy);
const call = asPerson(() => world);
const notes = (site = 'site-0001') =>
  world.sandbox
    .site(site)
    .notes()
    .filter((content) => content.includes('old-copies'));
const effects = () => effectsIn(world);
const requests = () => Object.values(world.sandbox.journal.totals.requests).reduce((sum, n) => sum + n, 0);

const withdrawalOf = (copy: string) => `announcement of deleteStagingSite ${copy}`;

/** Copies of the first sites whose deletion is announced. */
async function announced(sites = 1, options: WorldOptions = {}): Promise<string[]> {
  world = await worldOfTest({ sites: 3, ...options });
  world.sandbox.staging.clear();
  const ids = world.sandbox.siteIds().slice(0, sites);
  const copies = ids.map((site) => world.sandbox.staging.make(site, 15));
  // Until lists that are late show them.
  world.clock.leap(options.listLagMs ?? 0);
  const targets = await runOf(deletion());
  expect(copies.map((copy) => targets[copy]?.reason)).toEqual(copies.map(() => 'announced'));
  return copies;
}

describe('an announced target that the policy no longer selects', () => {
  test('loses its note, once and for two requests, and is announced again with the whole grace period', async () => {
    const [copy = ''] = await announced();
    const before = requests();
    expect(await runOf(another), 'of another policy').toEqual({});
    const planning = requests() - before;

    const first = await runOf(nothing);
    expect(requests() - before - planning).toBe(planning + 2);
    const second = await runOf(nothing);

    expect(first[withdrawalOf(copy)]).toMatchObject({
      outcome: 'succeeded',
      reason: 'announcement-withdrawn',
      detail: 'Its note was removed.',
    });
    expect(second).toEqual({});
    expect(notes()).toEqual([]);

    world.clock.leap(1.5 * DAY);
    const again = await runOf(deletion());
    const during = await runOf(deletion());
    world.clock.leap(DAY);
    const after = await runOf(deletion());

    expect([again, during, after].map((targets) => targets[copy]?.reason)).toEqual([
      'announced',
      'announced',
      'done',
    ]);
    expect(effects()).toEqual([
      ...['createSiteNote', 'deleteSiteNote', 'createSiteNote'],
      ...['deleteStagingSite', 'updateSiteNote'],
    ]);
  });

  test('keeps a note that was edited, stays cancelled if its note was removed, and is forgotten if its site is gone', async () => {
    const [edited = '', removed = '', gone = ''] = await announced(3);
    world.sandbox.site('site-0001').changeNotes((content) => `Ask Ines first.\n${content}`);
    world.sandbox
      .site('site-0002')
      .changeNotes((content) => (content.includes('old-copies') ? null : content));
    await call('deleteSite', { site_id: 'site-0003' });

    const targets = await runOf(nothing);

    expect(targets[withdrawalOf(edited)]?.detail).toMatch(/^Its note was edited, so it was kept/);
    const [note = ''] = notes();
    expect(note).toMatch(/^Ask Ines first\.\n/);
    expect(note).toMatch(
      /\nWithdrawn on \S+ \S+ UTC: Caretaker's policy "old-copies" no longer selects it\.\n/,
    );
    expect(note.endsWith(`[caretaker old-copies: deleteStagingSite ${edited}, closed]`)).toBe(true);
    expect(targets[withdrawalOf(removed)]?.detail).toBe('Its note was removed.');
    expect(targets[withdrawalOf(gone)]).toMatchObject({ reason: 'announcement-withdrawn' });
    expect(effects()).toEqual([...Array(3).fill('createSiteNote'), 'deleteSite', 'updateSiteNote']);
    expect(await runOf(nothing)).toEqual({});

    const later = await runOf(deletion());
    expect(later[edited]).toMatchObject({ reason: 'announced' });
    expect(notes()).toHaveLength(2);
    expect(later[removed]).toMatchObject({ reason: 'announcement-removed' });
    expect(notes('site-0002')).toEqual([]);
  });

  test('loses its note once when it is gone from the account, and a request and an answer are lost', async () => {
    const [copy = ''] = await announced();
    world.sandbox.staging.clear();
    for (const fault of ['reset-before', 'reset-after'] as const)
      world.sandbox.failNext({ operation: 'deleteSiteNote' }, fault);

    expect(await runOf(deletion())).toMatchObject({
      [withdrawalOf(copy)]: { reason: 'announcement-withdrawn' },
    });
    expect(world.sandbox.staging.ids()).toEqual([]);
    expect(notes()).toEqual([]);
    expect(effects()).toEqual(['createSiteNote', 'deleteSiteNote']);
    expect(await runOf(nothing)).toEqual({});
  });

  test('keeps its announcement open while the service refuses; the next run withdraws it, as its plan says, whatever its limits', async () => {
    const [copy = ''] = await announced();
    let refuses = true;
    around(world.caretaker.link('default').client, 'call', async (send, asked) => {
      if (asked === 'deleteSiteNote' && refuses)
        throw new RejectedError('deleteSiteNote', 422, { message: 'The site is locked.' });
      return send();
    });
    expect((await runOf(nothing))[withdrawalOf(copy)]).toMatchObject({
      outcome: 'failed',
      reason: 'rejected',
    });
    refuses = false;
    const limits = { concurrency: 20, maxTargets: 0, maxPercent: 0 };

    const plan = await world.caretaker.engine.preview({ ...nothing, limits });
    const run = await world.ended(await world.fire({ ...nothing, limits }));

    expect(plan.stoppedBy).toBeUndefined();
    expect(plan.targets).toMatchObject([
      { id: withdrawalOf(copy), plan: 'Would withdraw its announcement: the policy no longer selects it' },
    ]);
    expect(run.status).toBe('succeeded');
    expect(await world.reasons(run)).toEqual({ [withdrawalOf(copy)]: 'announcement-withdrawn' });
    expect(notes()).toEqual([]);
  });
});

test('an announcement is not withdrawn by a run over other targets, or whose selection was cut off by its limit', async () => {
  const [copy = ''] = await announced();
  const other = world.sandbox.staging.make('site-0002', 15);
  await world.ended(await world.fire(nothing, [other]));
  expect(effects()).toEqual(['createSiteNote']);
  // Newest first: the second copy is listed before the announced one.
  const limited = deletion({
    select: { from: 'listStagingSites', filters: {}, limit: 1, sort: 'created_at,desc' },
  });

  const targets = await runOf(limited);

  expect(Object.keys(targets)).toHaveLength(1);
  expect([copy, other]).toContain(Object.keys(targets)[0]);
  expect(effects()).not.toContain('deleteSiteNote');
});

test('a policy whose call is no longer announced withdraws what it announced', async () => {
  const [copy = ''] = await announced();
  const atOnce = { operation: 'deleteStagingSite', confirm: 'deleteStagingSite' };
  const policy = deletion({ options: apiCall.options.parse(atOnce) });

  const targets = await runOf(policy);

  expect(targets).toMatchObject({
    [copy]: { reason: 'done' },
    [withdrawalOf(copy)]: { reason: 'announcement-withdrawn' },
  });
  expect(notes()).toEqual([]);
});

test('a note that a list still shows after it was removed does not announce anything', async () => {
  const [copy = ''] = await announced(1, { listLagMs: DAY });
  world.clock.leap(1.5 * DAY);
  await runOf(nothing);

  // The list still shows the removed note, whose date has passed.
  expect((await runOf(deletion()))[copy]).toMatchObject({ reason: 'announced' });
  expect(effects()).toEqual(['createSiteNote', 'deleteSiteNote', 'createSiteNote']);
});

describe('of a policy with steps', () => {
  const steps = (where?: string) =>
    aPolicyOf(
      [
        {
          name: 'note',
          job: 'api-call',
          options: apiCall.options.parse({
            operation: 'createSiteNote',
            body: { note: { content: 'Begin' } },
            once: 'begin',
          }),
        },
        {
          name: 'quiet',
          job: 'api-call',
          options: apiCall.options.parse({
            operation: 'disableSiteActivityLogs',
            confirm: 'disableSiteActivityLogs',
            grace: '3d',
          }),
        },
      ],
      { name: 'old-copies', select: { from: 'listSites', filters: {}, ...(where ? { where } : {}) } },
    );
  test('the plan shows the announcement with its step, and it is withdrawn without the other steps', async () => {
    world = await worldOfTest({ sites: 1 });

    const before = await world.caretaker.engine.preview(steps());
    await runOf(steps());
    const during = await world.caretaker.engine.preview(steps());

    expect(before.targets[0]?.plan).toMatch(/^Step 2 \(quiet\): Would be announced, and done on or after /);
    expect(during.targets[0]?.plan).toMatch(/^Step 2 \(quiet\): Nothing yet: it is announced for /);
    expect(notes()).toHaveLength(1);

    const targets = await runOf(steps('site.url == "another"'));

    expect(targets).toMatchObject({
      'announcement of disableSiteActivityLogs site-0001': { reason: 'announcement-withdrawn', ofStep: 1 },
    });
    expect(notes()).toEqual([]);
    expect(effects()).toEqual(['createSiteNote', 'createSiteNote', 'deleteSiteNote']);
  });
});
