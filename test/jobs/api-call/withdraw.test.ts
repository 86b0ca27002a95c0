/** An announcement whose target the policy no longer selects is withdrawn, and announced again later. */
import { afterEach, describe, expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { RejectedError } from '../../../src/client/errors.ts';
import type { Input, OperationId } from '../../../src/contract/operations.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { around } from '../../support/between.ts';
import { aPolicy, aPolicyOf } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';

const DAY = 86_400_000;
let world: World;
let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
  stop = undefined;
});

const fullOptions = { operation: 'deleteStagingSite', confirm: 'deleteStagingSite', grace: '1d' };
const deletion = (changes: Partial<Policy> = {}, options: object = fullOptions) =>
  aPolicy({
    name: 'old-copies',
    job: 'api-call',
    select: { from: 'listStagingSites', filters: {} },
    options: apiCall.options.parse(options),
    ...changes,
  });
/** The same policy, which selects nothing. */
const nothing = deletion({
  select: { from: 'listStagingSites', filters: {}, where: 'staging.id == "another"' },
});

async function runOf(policy: Policy) {
  const run = await world.ended(await world.fire(policy));
  return Object.fromEntries((await world.targets(run)).map((target) => [target.id, target]));
}
const call = <Id extends OperationId>(operation: Id, input: Input<Id>) =>
  world.caretaker.link('default').client.call(operation, input, { requestClass: 'person' });
const notes = () =>
  world.sandbox
    .site('site-0001')
    .notes()
    .filter((content) => content.includes('old-copies'));
const effects = () => world.sandbox.journal.effects.map(({ operation }) => operation);
const requests = () => Object.values(world.sandbox.journal.totals.requests).reduce((sum, n) => sum + n, 0);

/** A copy whose deletion is announced: its id, and that of the withdrawal. */
async function announced(options: Parameters<typeof startWorld>[0] = {}) {
  world = await startWorld({ sites: 3, ...options });
  stop = world.stop;
  world.sandbox.staging.clear();
  const copy = world.sandbox.staging.make('site-0001', 15);
  // Until lists that are late show it.
  world.clock.leap(options.listLagMs ?? 0);
  expect((await runOf(deletion()))[copy]).toMatchObject({ reason: 'announced' });
  return { copy, withdrawal: `announcement of deleteStagingSite ${copy}` };
}

describe('an announced target that the policy no longer selects', () => {
  test('loses its note, once', async () => {
    const { withdrawal } = await announced();

    const first = await runOf(nothing);
    const second = await runOf(nothing);

    expect(first[withdrawal]).toMatchObject({
      outcome: 'succeeded',
      reason: 'announcement-withdrawn',
      detail: 'Its note was removed.',
    });
    expect(second).toEqual({});
    expect(notes()).toEqual([]);
    expect(effects()).toEqual(['createSiteNote', 'deleteSiteNote']);
  });

  test('costs two requests to withdraw, and none to plan', async () => {
    await announced();
    const before = requests();
    await runOf(deletion({ name: 'another', select: nothing.select }));
    const planning = requests() - before;

    await runOf(nothing);

    expect(requests() - before - planning).toBe(planning + 2);
  });

  test('is announced again with the whole grace period when it is selected again', async () => {
    const { copy } = await announced();
    await runOf(nothing);
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

  test('keeps a note that somebody has edited, which then says that it is withdrawn', async () => {
    const { copy, withdrawal } = await announced();
    world.sandbox.site('site-0001').changeNotes((content) => `Ask Ines first.\n${content}`);

    const targets = await runOf(nothing);

    expect(targets[withdrawal]?.detail).toMatch(/^Its note was edited, so it was kept/);
    const [note = ''] = notes();
    expect(note).toMatch(/^Ask Ines first\.\n/);
    expect(note).toMatch(
      /\nWithdrawn on \S+ \S+ UTC: Caretaker's policy "old-copies" no longer selects it\.\n/,
    );
    expect(note.endsWith(`[caretaker old-copies: deleteStagingSite ${copy}, closed]`)).toBe(true);
    expect(effects()).toEqual(['createSiteNote', 'updateSiteNote']);
    expect(await runOf(nothing)).toEqual({});
    expect((await runOf(deletion()))[copy]).toMatchObject({ reason: 'announced' });
    expect(notes()).toHaveLength(2);
  });

  test('stays cancelled when somebody had removed its note', async () => {
    const { copy, withdrawal } = await announced();
    world.sandbox
      .site('site-0001')
      .changeNotes((content) => (content.includes('old-copies') ? null : content));

    expect((await runOf(nothing))[withdrawal]?.detail).toBe('Its note was removed.');
    expect(await runOf(nothing)).toEqual({});
    expect((await runOf(deletion()))[copy]).toMatchObject({ reason: 'announcement-removed' });
    expect(effects()).toEqual(['createSiteNote']);
  });

  test('that is gone from the account has its announcement withdrawn, too', async () => {
    const { copy, withdrawal } = await announced();
    world.sandbox.staging.clear();

    expect(await runOf(deletion())).toMatchObject({ [withdrawal]: { reason: 'announcement-withdrawn' } });
    expect(world.sandbox.staging.ids()).not.toContain(copy);
    expect(notes()).toEqual([]);
  });

  test('needs no withdrawal when its site is gone: the announcement is forgotten', async () => {
    const { withdrawal } = await announced();
    await call('deleteSite', { site_id: 'site-0001' });

    expect(await runOf(nothing)).toMatchObject({ [withdrawal]: { reason: 'announcement-withdrawn' } });
    expect(await runOf(nothing)).toEqual({});
  });

  test('loses its note once when a request and an answer are lost', async () => {
    const { withdrawal } = await announced();
    for (const fault of ['reset-before', 'reset-after'] as const)
      world.sandbox.failNext({ operation: 'deleteSiteNote' }, fault);

    expect((await runOf(nothing))[withdrawal]).toMatchObject({ reason: 'announcement-withdrawn' });
    expect(effects()).toEqual(['createSiteNote', 'deleteSiteNote']);
    expect(await runOf(nothing)).toEqual({});
  });

  test('keeps its announcement open while the service refuses, and the next run withdraws it', async () => {
    const { withdrawal } = await announced();
    let refuses = true;
    around(world.caretaker.link('default').client, 'call', async (send, asked) => {
      if (asked === 'deleteSiteNote' && refuses)
        throw new RejectedError('deleteSiteNote', 422, { message: 'The site is locked.' });
      return send();
    });
    expect((await runOf(nothing))[withdrawal]).toMatchObject({ outcome: 'failed', reason: 'rejected' });
    refuses = false;

    expect((await runOf(nothing))[withdrawal]).toMatchObject({ reason: 'announcement-withdrawn' });
    expect(notes()).toEqual([]);
  });
});

describe('an announcement is not withdrawn', () => {
  test('by a run that was limited to other targets', async () => {
    await announced();
    const other = world.sandbox.staging.make('site-0002', 15);

    await world.ended(await world.fire(nothing, [other]));

    expect(effects()).toEqual(['createSiteNote']);
  });

  test('by a run whose selection was cut off by its limit', async () => {
    const { copy } = await announced();
    // Newest first: the second copy is listed before the announced one.
    const newer = world.sandbox.staging.make('site-0002', 15);
    const limited = deletion({
      select: { from: 'listStagingSites', filters: {}, limit: 1, sort: 'created_at,desc' },
    });

    const targets = await runOf(limited);

    expect(Object.keys(targets)).toHaveLength(1);
    expect([copy, newer]).toContain(Object.keys(targets)[0]);
    expect(effects()).not.toContain('deleteSiteNote');
  });

  test('by another policy', async () => {
    await announced();
    expect(await runOf(deletion({ name: 'another', select: nothing.select }))).toEqual({});
  });
});

test('withdrawals do not count for max_targets, and the plan shows them', async () => {
  const { withdrawal } = await announced();
  const limits = { concurrency: 20, maxTargets: 0, maxPercent: 0 };

  const plan = await world.caretaker.engine.preview({ ...nothing, limits });
  const run = await world.ended(await world.fire({ ...nothing, limits }));

  expect(plan.stoppedBy).toBeUndefined();
  expect(plan.targets).toMatchObject([
    { id: withdrawal, plan: 'Would withdraw its announcement: the policy no longer selects it' },
  ]);
  expect(run.status).toBe('succeeded');
  expect(notes()).toEqual([]);
});

test('a policy whose call is no longer announced withdraws what it announced', async () => {
  const { copy, withdrawal } = await announced();
  const { grace: _, ...atOnce } = fullOptions;
  const policy = deletion({}, atOnce);

  const targets = await runOf(policy);

  expect(targets).toMatchObject({
    [copy]: { reason: 'done' },
    [withdrawal]: { reason: 'announcement-withdrawn' },
  });
  expect(notes()).toEqual([]);
});

test('a note that a list still shows after it was removed does not announce anything', async () => {
  const { copy } = await announced({ listLagMs: DAY });
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
    world = await startWorld({ sites: 1 });
    stop = world.stop;

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
