/** api-call with `grace`: a destructive call is announced, and made by a later run. */
import { describe, expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { RejectedError } from '../../../src/client/errors.ts';
import type { Input, OperationId } from '../../../src/contract/operations.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { around } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import type { World } from '../../support/caretaker.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { asPerson, effectsIn, targetsAfter } from '../acting.ts';
import { mistakesOf } from '../policies.ts';

const DAY = 86_400_000;
let world: World;

async function withCopy(): Promise<string> {
  world = await worldOfTest({ sites: 3 });
  world.sandbox.staging.clear();
  return world.sandbox.staging.make('site-0001', 15);
}

const deletion = (options: object = {}, changes: Partial<Policy> = {}) =>
  aPolicy({
    name: 'old-copies',
    job: 'api-call',
    select: { from: 'listStagingSites', filters: {} },
    options: apiCall.options.parse({
      operation: 'deleteStagingSite',
      confirm: 'deleteStagingSite',
      grace: '3d',
      ...options,
    }),
    ...changes,
  });

const runOf = (policy: Policy) => targetsAfter(world, policy);
const call = asPerson(() => world);
const notes = async () => {
  const filters = { content: { contains: 'caretaker old-copies' } };
  return (await call('listSiteNotes', { site_id: 'site-0001', filters })).notes;
};
const effects = () => effectsIn(world);
const plans = async (policy: Policy) => {
  const { targets } = await world.caretaker.engine.preview(policy);
  return targets.map(({ plan }) => plan);
};

describe('when its policy is loaded, grace', () => {
  test('is accepted for a destructive operation', () => {
    const options = '{ operation: deleteStagingSite, confirm: deleteStagingSite, grace: 3d }';
    expect(mistakesOf(apiCall, '{ from: listStagingSites }', options)).toEqual([]);
  });

  test.each([
    [
      '{ operation: resumeStagingSite, grace: 3d }',
      ['0:32 "grace" announces destructive calls, and resumeStagingSite is not destructive. remove it'],
    ],
    [
      '{ operation: deleteStagingSite, confirm: deleteStagingSite, grace: 91d }',
      ['0:67 "grace" can be at most 90d.'],
    ],
    [
      '{ operation: deleteStagingSite, confirm: deleteStagingSite, grace: 30s }',
      [expect.stringMatching(/^0:67 .*of at least 1m\.$/)],
    ],
  ])('is rejected with its place: %s', (options, faults) => {
    expect(mistakesOf(apiCall, '{ from: listStagingSites }', options)).toEqual(faults);
  });
});

describe('an announced call', () => {
  test('is announced once on the site of its target, made by the first run after that, and the note is updated', async () => {
    const copy = await withCopy();

    const before = await plans(deletion());
    const first = await runOf(deletion());
    const during = await plans(deletion());
    const second = await runOf(deletion());

    const detail = expect.stringMatching(/^deleteStagingSite is to be called on or after .* UTC\.$/);
    expect(first[copy]).toMatchObject({
      outcome: 'succeeded',
      reason: 'announced',
      detail,
      findings: [{ severity: 'warning', about: 'announced', message: detail }],
    });
    expect(second[copy]?.detail).toBe(first[copy]?.detail);
    expect(effects()).toEqual(['createSiteNote']);
    const [note] = await notes();
    expect(note?.content).toContain(`Caretaker's policy "old-copies" calls deleteStagingSite for https://`);
    expect(note?.content).toContain('To cancel this, remove this note.');

    world.clock.leap(3 * DAY);
    const after = await plans(deletion());
    expect(effects()).toEqual(['createSiteNote']);
    const targets = await runOf(deletion());

    expect(targets[copy]).toMatchObject({
      outcome: 'succeeded',
      reason: 'done',
      findings: [{ severity: 'info', message: 'deleteStagingSite was called, as announced.' }],
    });
    expect(effects()).toEqual(['createSiteNote', 'deleteStagingSite', 'updateSiteNote']);
    expect((await notes())[0]?.content).toContain(
      `[caretaker old-copies: deleteStagingSite ${copy}, closed]`,
    );
    expect([before, during, after]).toEqual([
      [expect.stringMatching(/^Would be announced, and done on or after 2026-11-24 \d\d:\d\d UTC$/)],
      [expect.stringMatching(/^Nothing yet: it is announced for 2026-11-24 \d\d:\d\d UTC$/)],
      [
        expect.stringMatching(
          /^Would be done, if the announcement for 2026-11-24 \d\d:\d\d UTC is still there$/,
        ),
      ],
    ]);
  });

  test('whose note was removed is not made, its target is kept, and the plan says so', async () => {
    const copy = await withCopy();
    await runOf(deletion());
    const [note] = await notes();
    await call('deleteSiteNote', { site_id: 'site-0001', note_id: note?.id ?? '' });
    world.clock.leap(4 * DAY);

    expect((await runOf(deletion()))[copy]).toMatchObject({
      outcome: 'skipped',
      reason: 'announcement-removed',
    });
    expect(effects()).toEqual(['createSiteNote', 'deleteSiteNote']);
    expect(await plans(deletion())).toEqual([
      expect.stringMatching(/^Nothing: its announcement for 2026-11-24 \d\d:\d\d UTC was removed$/),
    ]);
  });

  test('is announced, made and closed once when requests and answers are lost', async () => {
    const copy = await withCopy();
    const lose = (operation: OperationId) => {
      for (const fault of ['reset-before', 'reset-after'] as const)
        world.sandbox.failNext({ operation }, fault);
    };
    lose('createSiteNote');
    expect((await runOf(deletion()))[copy]).toMatchObject({ reason: 'announced' });
    world.clock.leap(3 * DAY);
    for (const operation of ['deleteStagingSite', 'updateSiteNote'] as const) lose(operation);

    const { [copy]: target } = await runOf(deletion());

    expect(target).toMatchObject({ outcome: 'succeeded' });
    expect(['done', 'already-done']).toContain(target?.reason);
    expect(effects()).toEqual(['createSiteNote', 'deleteStagingSite', 'updateSiteNote']);
    expect(await notes()).toHaveLength(1);
  });

  test('that the policy declares differently is announced again', async () => {
    world = await worldOfTest({ sites: 1 });
    const [first, second] = (await call('listTags', {})).tags;
    const untag = (tag_id = '') =>
      deletion(
        {
          operation: 'removeTag',
          confirm: 'removeTag',
          params: { tag_id },
          body: { site_ids: [{ cel: 'site.id' }] },
        },
        { select: { from: 'listSites', filters: {} } },
      );
    await runOf(untag(first?.id));
    world.clock.leap(3 * DAY);

    const targets = await runOf(untag(second?.id));

    expect(targets['site-0001']).toMatchObject({ reason: 'announced' });
    expect(Object.values(targets).map(({ reason }) => reason)).toContain('announcement-withdrawn');
    expect(effects().toSorted()).toEqual(['createSiteNote', 'createSiteNote', 'deleteSiteNote']);
    expect(await notes()).toHaveLength(1);
  });

  test('is announced again when it applies again after it was made', async () => {
    world = await worldOfTest({ sites: 1 });
    const policy = deletion(
      { operation: 'disableSiteActivityLogs', confirm: 'disableSiteActivityLogs' },
      { select: { from: 'listSites', filters: {} } },
    );
    await runOf(policy);
    world.clock.leap(3 * DAY);
    expect((await runOf(policy))['site-0001']).toMatchObject({ reason: 'done' });

    expect((await runOf(policy))['site-0001']).toMatchObject({ reason: 'announced' });
    expect(world.sandbox.journal.countOf('disableSiteActivityLogs')).toBe(1);
  });

  test('keeps its announcement when the service refuses the call, and is made although its note cannot be updated', async () => {
    const copy = await withCopy();
    const noted = world.sandbox.staging.make('site-0002', 15);
    await runOf(deletion());
    world.clock.leap(3 * DAY);
    let refuses = true;
    around(world.caretaker.link('default').client, 'call', async (send, asked, input) => {
      if (refuses && Reflect.get(input, 'staging_site_id') === copy && asked === 'deleteStagingSite')
        throw new RejectedError(asked, 422, { message: 'It is in use.' });
      if (asked === 'updateSiteNote' && Reflect.get(input, 'site_id') === 'site-0002')
        throw new RejectedError(asked, 422, { message: 'The site is locked.' });
      return send();
    });

    const first = await runOf(deletion());
    refuses = false;
    const second = await runOf(deletion());

    expect(first[copy]).toMatchObject({ outcome: 'failed', reason: 'rejected' });
    expect(first[noted]?.findings).toMatchObject([
      { severity: 'info' },
      {
        severity: 'warning',
        message: 'The note that announced it could not be updated: The site is locked.',
      },
    ]);
    expect(second[copy]).toMatchObject({ reason: 'done' });
    expect(effects()).toEqual([
      ...['createSiteNote', 'createSiteNote', 'deleteStagingSite'],
      ...['deleteStagingSite', 'updateSiteNote'],
    ]);
  });

  test('that starts a task is followed to its end, and then its announcement is closed', async () => {
    world = await worldOfTest({ sites: 10 });
    const filters = { backups: { eq: true }, connection_status: { eq: 'connected' }, locked: { eq: false } };
    const { sites } = await call('listSites', { filters } as Input<'listSites'>);
    const [site = '', other] = sites.map(({ id }) => id);
    const scope = { include_files: true, include_database: true };
    const policy = deletion(
      {
        operation: 'startSiteBackupMigration',
        confirm: 'startSiteBackupMigration',
        params: { snapshot_id: { cel: 'site.backups.latest_snapshot.id' } },
        body: { migration: { type: 'internal', site_id: other, scope } },
      },
      { select: { from: 'listSites', filters: { id: { eq: site } } } },
    );
    expect((await runOf(policy))[site]).toMatchObject({ reason: 'announced' });
    world.clock.leap(3 * DAY);
    world.sandbox.failNext({ operation: 'startSiteBackupMigration' }, 'reset-after');

    expect((await runOf(policy))[site]).toMatchObject({
      outcome: 'succeeded',
      reason: 'adopted',
      findings: [{ message: 'startSiteBackupMigration was called, as announced.' }],
    });
    expect(effects()).toEqual(['createSiteNote', 'startSiteBackupMigration', 'updateSiteNote']);
  });
});

test('a target that belongs to no site is announced in the findings only, and again 90 days past the date', async () => {
  world = await worldOfTest({ sites: 1 });
  const { tag } = await call('createTag', { body: { tag: { name: 'old' } } });
  const policy = deletion(
    { operation: 'deleteTag', confirm: 'deleteTag' },
    { select: { from: 'listTags', filters: {}, where: 'tag.name == "old"' } },
  );

  const first = await runOf(policy);
  world.clock.leap(94 * DAY);
  const again = await runOf(policy);
  const during = await runOf(policy);
  world.clock.leap(3 * DAY);
  const after = await runOf(policy);

  expect([first, again, during, after].map((targets) => targets[tag.id]?.reason)).toEqual([
    'announced',
    'announced',
    'announced',
    'done',
  ]);
  expect(again[tag.id]?.detail).not.toBe(first[tag.id]?.detail);
  expect(during[tag.id]?.detail).toBe(again[tag.id]?.detail);
  expect(effects()).toEqual(['createTag', 'deleteTag']);
});

test('the plan shows the announcements of the items of each site too', async () => {
  world = await worldOfTest({ sites: 1 });
  await call('createSiteNote', { site_id: 'site-0001', body: { note: { content: 'old' } } });
  const policy = deletion(
    { operation: 'deleteSiteNote', confirm: 'deleteSiteNote' },
    {
      select: {
        from: 'listSiteNotes',
        forEach: { list: 'listSites', filters: {} },
        filters: { content: { contains: 'old' } },
        where: 'note.content == "old"',
      },
    },
  );
  const [target] = Object.values(await runOf(policy));

  expect(target).toMatchObject({ reason: 'announced' });
  expect(await plans(policy)).toEqual([expect.stringMatching(/^Nothing yet: it is announced for /)]);
});
