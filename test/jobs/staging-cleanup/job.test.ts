/** staging-cleanup: which copies are stale, how they are announced, deleted or extended, and which are kept. */
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { stagingCleanup } from '../../../jobs/staging-cleanup/job.ts';
import { GoneError, RejectedError } from '../../../src/client/errors.ts';
import { readAnswer } from '../../../src/contract/answers.ts';
import type { OperationId } from '../../../src/contract/operations.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { around } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import type { World } from '../../support/caretaker.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { asPerson, effectsIn, justBefore, targetsAfter } from '../acting.ts';

const DAY = 86_400_000;
let world: World;

/** Three sites with copies, each given by the number of its site and its age in days. Oldest first. */
async function withCopies(...copies: [site: number, daysAgo: number][]): Promise<string[]> {
  world = await worldOfTest({ sites: 3 });
  const { staging, siteIds } = world.sandbox;
  staging.clear();
  return copies.map(([site, daysAgo]) => staging.make(siteIds()[site] ?? '', daysAgo));
}

const cleanup = (options: object, changes: Partial<Policy> = {}) =>
  aPolicy({
    name: 'cleanup',
    job: 'staging-cleanup',
    options: stagingCleanup.options.parse({ action: 'delete', older_than: '14d', ...options }),
    ...changes,
  });

/** Runs the policy to its end, and gives the target of each copy. */
const clean = (options: object = {}, changes: Partial<Policy> = {}) =>
  targetsAfter(world, cleanup(options, changes));

const reasonsOf = (targets: Awaited<ReturnType<typeof clean>>) =>
  Object.fromEntries(Object.values(targets).map(({ id, reason }) => [id, reason]));

const call = asPerson(() => world);

const notesOf = async (site: number) => {
  const site_id = world.sandbox.siteIds()[site] ?? '';
  const filters = { content: { contains: 'caretaker staging-cleanup' } };
  return (await call('listSiteNotes', { site_id, filters })).notes;
};

/** Writes another date into the announcement on a site. */
async function moveAnnouncement(site: number, to: string) {
  const [note] = await notesOf(site);
  const content = note?.content?.replace(/ from \S+\]$/, ` from ${to}]`) ?? '';
  const site_id = world.sandbox.siteIds()[site] ?? '';
  await call('updateSiteNote', { site_id, note_id: note?.id ?? '', body: { note: { content } } });
}

const effects = () => effectsIn(world);

/** Copies are listed by `prepare`, for the candidates, and a third time before one is changed. */
const beforeSecondCheck = (happen: () => unknown) => justBefore(world, 'listStagingSites', happen, 3);

describe('a stale copy', () => {
  test('is announced once on its live site, deleted by the first run after that, and the note is updated', async () => {
    const [stale = ''] = await withCopies([0, 15]);
    await call('createTag', { body: { tag: { name: 'keep-staging' } } });

    const first = await clean({ unless_tagged: [{ name: 'keep-staging' }] });
    const second = await clean();

    expect(reasonsOf(first)).toEqual({ [stale]: 'announced' });
    expect(first[stale]).toMatchObject({ outcome: 'succeeded' });
    expect(first[stale]?.detail).toMatch(
      /^To be deleted on or after .* UTC: created on .*, suspended, expired on /,
    );
    expect(second[stale]?.detail).toBe(first[stale]?.detail);
    expect(effects()).toEqual(['createTag', 'createSiteNote']);
    const [announced] = await notesOf(0);
    expect(announced?.content).toContain(`(${stale}) is stale: created on `);
    expect(announced?.content).toContain('To cancel this, remove this note');
    expect(announced?.content).toContain('tag the site "keep-staging"');

    world.clock.leap(3 * DAY);
    const targets = await clean({ grace: '3d' });

    expect(targets[stale]).toMatchObject({ outcome: 'succeeded', reason: 'done' });
    expect(targets[stale]?.detail).toMatch(/^Deleted: created on /);
    expect(effects().slice(2)).toEqual(['deleteStagingSite', 'updateSiteNote']);
    const [note, ...others] = await notesOf(0);
    expect(note?.content).toMatch(/was deleted on .* by Caretaker's policy "cleanup", as announced/);
    expect(note?.content).toContain(`[caretaker staging-cleanup: ${stale}, closed]`);
    expect(others).toEqual([]);
    expect(await clean()).toEqual({});
    expect(world.sandbox.journal.countOf('showStagingSite')).toBe(0);
  });

  const removeNote = async () => {
    const [note] = await notesOf(0);
    await call('deleteSiteNote', { site_id: 'site-0001', note_id: note?.id ?? '' });
  };

  test('whose note was removed, or lost its last line, is kept', async () => {
    const [removed = '', edited = ''] = await withCopies([0, 15], [1, 15]);
    await clean();
    await removeNote();
    const [note] = await notesOf(1);
    const body = { note: { content: 'We still need this copy.' } };
    await call('updateSiteNote', { site_id: 'site-0002', note_id: note?.id ?? '', body });
    world.clock.leap(4 * DAY);

    const targets = await clean();

    expect(targets[removed]).toMatchObject({ outcome: 'skipped', reason: 'announcement-removed' });
    expect(targets[removed]?.detail).toMatch(
      /^Its announcement for .* UTC was removed, so it is kept until .* UTC\.$/,
    );
    expect(targets[edited]?.reason).toBe('announcement-removed');
    expect(effects()).toEqual(['createSiteNote', 'createSiteNote', 'deleteSiteNote', 'updateSiteNote']);
  });

  test('is kept too when its removed announcement is known from the note alone', async () => {
    const [stale = ''] = await withCopies([0, 15]);
    await clean();
    // As after a loss of the records: the run that finds the note remembers it.
    const client = new Redis(world.redis.options);
    expect(await client.del(await client.keys('*announcement*'))).toBe(2);
    client.disconnect();
    await clean();
    await removeNote();
    world.clock.leap(4 * DAY);

    expect(reasonsOf(await clean())).toEqual({ [stale]: 'announcement-removed' });
  });

  test('is announced once while the list of notes does not show the note yet', async () => {
    world = await worldOfTest({ sites: 3, listLagMs: 600_000 });
    world.sandbox.staging.clear();
    const stale = world.sandbox.staging.make('site-0001', 15);
    world.clock.leap(DAY);
    const first = await clean();

    expect(reasonsOf(first)).toEqual({ [stale]: 'announced' });
    expect(await notesOf(0)).toEqual([]);
    expect((await clean())[stale]?.detail).toBe(first[stale]?.detail);
    expect(effects()).toEqual(['createSiteNote']);
  });

  test('is kept until a later date that its announcement was given, and announced again for one that cannot be right', async () => {
    const [later = '', old = '', invalid = ''] = await withCopies([0, 15], [1, 15], [2, 15]);
    await clean();
    await moveAnnouncement(0, new Date(world.clock.now() + 5 * DAY).toISOString());
    await moveAnnouncement(1, '2025-01-01T00:00:00Z');
    await moveAnnouncement(2, 'tomorrow');
    const all = { [later]: 'announced', [old]: 'announced', [invalid]: 'announced' };

    expect(reasonsOf(await clean())).toEqual(all);

    expect(effects()).toEqual([...Array(3).fill('createSiteNote'), ...Array(5).fill('updateSiteNote')]);
    for (const site of [1, 2]) {
      const [note] = await notesOf(site);
      expect(Date.parse(/ from (\S+)\]$/.exec(note?.content ?? '')?.[1] ?? '')).toBeGreaterThan(
        world.clock.now() + 2.9 * DAY,
      );
    }
    world.clock.leap(4 * DAY);
    expect(reasonsOf(await clean())).toEqual({ ...all, [old]: 'done', [invalid]: 'done' });
    world.clock.leap(1.1 * DAY);
    expect(reasonsOf(await clean())).toEqual({ [later]: 'done' });
  });

  test('that is no longer stale is kept, and the announcement of its deletion is withdrawn', async () => {
    const [copy = ''] = await withCopies([0, 15]);
    await clean();
    world.clock.leap(4 * DAY);
    const { tags } = await call('listTags', {});
    const [tag] = tags;
    await call('assignTag', { tag_id: tag?.id ?? '', body: { site_ids: ['site-0001'] } });

    expect(reasonsOf(await clean({ unless_tagged: [{ name: tag?.name?.toUpperCase() }] }))).toEqual({
      [`announcement of ${copy}`]: 'announcement-withdrawn',
    });
    expect(await notesOf(0)).toEqual([]);
    expect(await clean({ unless_tagged: [tag?.id] })).toEqual({});
  });

  test('whose live site was removed from the account is skipped as gone', async () => {
    const [stale = ''] = await withCopies([0, 15]);
    justBefore(world, 'listSiteNotes', () => call('deleteSite', { site_id: 'site-0001' }));

    const targets = await clean();

    expect(targets[stale]).toMatchObject({ outcome: 'skipped', reason: 'gone' });
    expect(targets[stale]?.detail).toBe('Its live site is no longer in the account.');
  });
});

describe('a copy that changes between plan and deletion', () => {
  test('because it is deleted, extended or downloaded is not touched', async () => {
    const [gone = '', extended = '', downloaded = ''] = await withCopies([0, 15], [1, 15], [2, 15]);
    beforeSecondCheck(async () => {
      await call('deleteStagingSite', { staging_site_id: gone });
      await call('extendStagingSiteExpiry', { staging_site_id: extended, body: { days: 3 } });
      startTask('download_staging', [{ id: downloaded }]);
    });

    const targets = await clean({ grace: 0 });

    expect(targets[gone]).toMatchObject({ outcome: 'succeeded', reason: 'already-done' });
    expect(targets[extended]).toMatchObject({ outcome: 'skipped', reason: 'not-eligible' });
    expect(targets[extended]?.detail).toBe('It has changed since the plan was made.');
    expect(targets[downloaded]?.detail).toMatch(
      /^The task task-\d+ \(download_staging\) is or may be working on it/,
    );
    expect(effects()).toEqual(['deleteStagingSite', 'extendStagingSiteExpiry']);
  });

  test('because a task whose type is not shown starts on it is not touched', async () => {
    const [stale = ''] = await withCopies([0, 15]);
    world.sandbox.hide('listTasks', 'type');
    beforeSecondCheck(() => startTask('download_staging', [{ id: stale }]));

    expect((await clean({ grace: 0 }))[stale]?.detail).toMatch(
      /^The task task-\d+ .* is or may be working on it/,
    );
    expect(effects()).toEqual([]);
  });

  test('because a newer copy is removed is kept by keep_latest', async () => {
    const [stale = '', newer = ''] = await withCopies([0, 15], [0, 1]);
    beforeSecondCheck(() => call('deleteStagingSite', { staging_site_id: newer }));

    const targets = await clean({ grace: 0, keep_latest: 1 });

    expect(targets[stale]).toMatchObject({ outcome: 'skipped', reason: 'not-eligible' });
    expect(targets[stale]?.detail).toMatch(/keep_latest keeps this one/);
    expect(world.sandbox.staging.ids()).toEqual([stale]);
  });
});

const startTask = (type: string, input: { id: string }[]) =>
  world.sandbox.startTask({ type, input, takesMs: 3_600_000 });

// Which copies a task may be working on: copies.test.ts.
test('a copy that a running task is working on is not touched, and the detail names the task', async () => {
  const [first = '', second = '', third = ''] = await withCopies([0, 15], [0, 16], [1, 15]);
  const task = startTask('download_staging', [{ id: first }]);

  const targets = await clean({ grace: 0 });

  expect(reasonsOf(targets)).toEqual({ [first]: 'not-eligible', [second]: 'done', [third]: 'done' });
  expect(targets[first]).toMatchObject({
    outcome: 'skipped',
    detail: `The task ${task} (download_staging) is or may be working on it: the service does not always show which copy a task is for.`,
  });
  // Without a grace period, nothing is announced.
  expect(effects()).toEqual(['deleteStagingSite', 'deleteStagingSite']);
});

describe('a copy that is kept', () => {
  const excludedBy = async (options: object, changes: Partial<Policy> = {}) => {
    const preview = await world.caretaker.engine.preview(cleanup(options, changes));
    return Object.fromEntries(preview.excluded.map(({ id, why }) => [id, why]));
  };

  test('is listed in the plan with the condition that keeps it', async () => {
    const [old = '', paused = '', young = ''] = await withCopies([0, 15], [0, 8], [1, 1]);

    expect(await excludedBy({ keep_latest: 1 })).toEqual({
      [paused]: 'It was created less than 14d ago (older_than)',
      [young]: 'It was created less than 14d ago (older_than)',
    });
    expect(await excludedBy({ older_than: '1s', keep_latest: 1 })).toEqual({
      [paused]: 'It is the newest copy of its live site (keep_latest)',
      [young]: 'It is the newest copy of its live site (keep_latest)',
    });
    expect(await excludedBy({ older_than: '1s', status: ['suspended'] })).toEqual({
      [paused]: 'It is paused (status)',
      [young]: 'It is active (status)',
    });
    expect(await excludedBy({ older_than: '1s', expires_within: '7d' })).toEqual({
      [young]: 'It does not expire within 7d (expires_within)',
    });
    expect(await excludedBy({ older_than: '1s', keep_latest: 2 })).toMatchObject({
      [old]: 'It is one of the 2 newest copies of its live site (keep_latest)',
    });
  });

  test.each([
    ['created_at', {}],
    ['expires_at', { older_than: '1s', expires_within: '1d' }],
  ])('because its %s is a zero time is not taken for an old one', async (field, options) => {
    const [copy = ''] = await withCopies([0, 1]);
    around(world.caretaker.link('default').client, 'call', async (send, operation) => {
      const answer = await send();
      if (operation !== 'listStagingSites' && operation !== 'showStagingSite') return answer;
      const zero = (key: string, value: unknown) => (key === field ? '0001-01-01T00:00:00Z' : value);
      return readAnswer(operation, JSON.parse(JSON.stringify(answer), zero)).value as never;
    });

    const targets = await clean({ grace: 0, ...options });

    expect(targets[copy]).toMatchObject({
      outcome: 'skipped',
      reason: 'not-eligible',
      detail: `The service does not show staging.${field}.`,
    });
    expect(effects()).toEqual([]);
  });

  test('is decided by conditions on the copy and on its live site', async () => {
    const [first = '', second = ''] = await withCopies([0, 15], [1, 15]);
    const { sites } = await call('listSites', { filters: { id: { eq: 'site-0002' } } });
    const where = `staging.status == "suspended" && site.url == "${sites[0]?.url}"`;

    expect(await excludedBy({}, { select: { filters: {}, where } })).toEqual({
      [first]: 'select.where does not hold',
    });
    expect(reasonsOf(await clean({}, { select: { filters: {}, where } }))).toEqual({ [second]: 'announced' });
  });

  test('by a tag that the account does not have is unknown: no copy is touched, and the run reports why', async () => {
    const [stale = ''] = await withCopies([0, 15]);
    for (const how of [{ action: 'extend', expires_within: '7d', days: 14 }, { action: 'report' }]) {
      const options = { ...how, unless_tagged: ['999'] };

      expect((await clean(options))[stale], how.action).toMatchObject({
        outcome: 'skipped',
        reason: 'not-eligible',
        detail:
          'The account has no tag with the id "999" (unless_tagged), so it is unknown which copies to keep.',
      });
      expect(await excludedBy(options)).toEqual({
        'tag 999': 'The account has no tag with this id (unless_tagged), so no copy is touched',
      });
    }
    expect(effects()).toEqual([]);
  });
});

describe('answers that are lost', () => {
  /** Of two requests the first is lost on its way, and the answer to the second one. */
  const lose = (...operations: OperationId[]) => {
    for (const operation of operations)
      for (const fault of ['reset-before', 'reset-after'] as const)
        world.sandbox.failNext({ operation }, fault);
  };

  test('lead to one announcement, one deletion and one closing note', async () => {
    const [stale = ''] = await withCopies([0, 15]);
    lose('createSiteNote');
    expect(reasonsOf(await clean())).toEqual({ [stale]: 'announced' });
    world.clock.leap(3 * DAY);
    lose('deleteStagingSite', 'updateSiteNote');

    expect(reasonsOf(await clean())).toEqual({ [stale]: 'done' });

    expect(effects()).toEqual(['createSiteNote', 'deleteStagingSite', 'updateSiteNote']);
    expect(await notesOf(0)).toHaveLength(1);
  });

  test('lead to one extension', async () => {
    const [copy = ''] = await withCopies([0, 13]);
    lose('extendStagingSiteExpiry');

    const targets = await clean(extension);

    expect(targets[copy]).toMatchObject({ outcome: 'succeeded', reason: 'done' });
    expect(effects()).toEqual(['extendStagingSiteExpiry']);
  });
});

test('a copy of which cannot be found out in time whether it was extended is not extended again', async () => {
  const [copy = ''] = await withCopies([0, 13]);
  justBefore(world, 'extendStagingSiteExpiry', () => {
    world.sandbox.failNext({ operation: 'extendStagingSiteExpiry' }, 'reset-after');
    world.sandbox.failNext({ operation: 'showStagingSite', times: 1_000 }, 'status-503');
  });

  const targets = await clean(extension, { timeout: { targetMs: 90_000, runMs: 28_800_000 } });

  expect(targets[copy]).toMatchObject({ outcome: 'failed', reason: 'unknown-effect' });
  expect(effects()).toEqual(['extendStagingSiteExpiry']);
});

const extension = { action: 'extend', older_than: undefined, expires_within: '3d', days: 7 };

describe('extending', () => {
  test('extends the life of a copy once, and stores none of its credentials, which the answer has', async () => {
    const [copy = '', other = ''] = await withCopies([0, 13], [1, 1]);
    const { staging_site } = await call('showStagingSite', { staging_site_id: copy });
    const secret = staging_site.credentials?.server?.password ?? '';
    expect(secret).not.toBe('');

    const targets = await clean(extension);

    expect(Object.keys(targets)).toEqual([copy]);
    expect(targets[copy]?.detail).toMatch(/^It expires on \d{4}-\d\d-\d\d instead of \d{4}-\d\d-\d\d\.$/);
    expect(JSON.stringify([targets, world.log.lines])).not.toContain(secret);
    expect(await clean(extension)).toEqual({});
    expect(effects()).toEqual(['extendStagingSiteExpiry']);
    expect(world.sandbox.staging.ids()).toContain(other);
  });

  test('beyond what the service allows is rejected with its message, and skipped when the copy is gone', async () => {
    const [copy = '', gone = ''] = await withCopies([0, 13], [1, 13]);
    justBefore(world, 'extendStagingSiteExpiry', () => call('deleteStagingSite', { staging_site_id: gone }));

    const targets = await clean({ ...extension, days: 29 });

    expect(targets[copy]).toMatchObject({ outcome: 'failed', reason: 'rejected' });
    expect(targets[copy]?.detail).toContain('30 days at most');
    expect(targets[gone]).toMatchObject({ outcome: 'skipped', reason: 'gone' });
  });
});

test('a report lists stale copies as findings, and changes nothing', async () => {
  const [stale = ''] = await withCopies([0, 15], [0, 1]);

  const targets = await clean({ action: 'report' });

  expect(targets[stale]).toMatchObject({
    outcome: 'succeeded',
    reason: 'done',
    findings: [{ severity: 'warning', message: expect.stringMatching(/^Stale: created on /) }],
  });
  expect(Object.keys(targets)).toEqual([stale]);
  expect(effects()).toEqual([]);
});

test('an announced copy is deleted whatever became of its note, and the note of one that was gone says so', async () => {
  const [noteless = '', refused = '', gone = ''] = await withCopies([0, 15], [1, 15], [2, 15]);
  await clean();
  world.clock.leap(3 * DAY);
  const [note] = await notesOf(0);
  let isThere = true;
  around(world.caretaker.link('default').client, 'call', async (send, asked, input) => {
    if (isThere && asked === 'deleteStagingSite' && Reflect.get(input, 'staging_site_id') === gone) {
      isThere = false;
      await call('deleteStagingSite', { staging_site_id: gone });
    }
    const site = asked === 'updateSiteNote' && 'site_id' in input ? input.site_id : '';
    if (site === 'site-0001') await call('deleteSiteNote', { site_id: site, note_id: note?.id ?? '' });
    if (site === 'site-0002')
      throw new RejectedError('updateSiteNote', 422, { message: 'The site is locked.' });
    return send();
  });

  const targets = await clean();

  expect(targets[noteless]?.reason).toBe('done');
  expect(targets[refused]).toMatchObject({
    outcome: 'succeeded',
    reason: 'done',
    findings: [
      { severity: 'info', message: expect.stringMatching(/^Deleted: created on /) },
      { severity: 'warning', message: expect.stringContaining('The site is locked.') },
    ],
  });
  expect(targets[gone]).toMatchObject({ outcome: 'succeeded', reason: 'already-done' });
  expect((await notesOf(2))[0]?.content).toContain('was announced for deletion, but was already gone');
  expect(effects().toSorted()).toEqual([
    ...Array(3).fill('createSiteNote'),
    'deleteSiteNote',
    ...Array(3).fill('deleteStagingSite'),
    'updateSiteNote',
  ]);
});

describe('the plan', () => {
  const now = Date.parse('2026-11-21T06:00:00Z');
  const copy = {
    id: 'c',
    site_id: 's',
    status: 'paused',
    url: 'https://c.example',
    created_at: '2026-11-01T06:00:00Z',
    updated_at: '2026-11-01T06:00:00Z',
    expires_at: '2026-11-15T06:00:00Z',
  };
  const evaluate = (
    changes: object,
    options: object = {},
    sites: { id: string; url: string; tags?: { id: string; name?: string }[] }[] = [
      { id: 's', url: 'https://s.example', tags: [] },
    ],
  ) => {
    const { id, ...seen } = { ...copy, ...changes };
    const prepared = {
      copies: new Map([['c', { id: 'c', ...seen }]]),
      sites: new Map(sites.map((site) => [site.id, site])),
      latest: new Set<string>(),
      busy: new Map(),
      tags: { missing: [], names: new Map([['7', 'gold']]) },
      announced: { known: new Map(), open: [], idFor: () => undefined, missedAt: () => undefined },
    };
    const facts = {
      options: stagingCleanup.options.parse({ action: 'delete', older_than: '14d', ...options }),
      prepared,
      now,
      serviceNow: now,
      retry: false,
    };
    const runContext = { policy: 'cleanup', at: now, timezone: 'UTC' };
    return stagingCleanup.evaluate?.({ id }, { ...facts, runContext }, {});
  };

  test.each([
    ['created_at', {}],
    ['expires_at', { expires_within: '1d' }],
    ['status', { status: ['paused'] }],
    ['status', {}],
    // Without these two, a change after the plan was made could not be noticed.
    ['updated_at', {}],
    ['expires_at', {}],
    ['site_id', { grace: 0 }],
  ])('does not decide about a copy whose %s is not shown (%j)', (field, options) => {
    expect(() => evaluate({ [field]: undefined }, options)).toThrow(
      `The service does not show staging.${field}.`,
    );
  });

  test('excludes a copy that was not listed yet when planning started', () => {
    expect(evaluate({})).toMatchObject({ is: 'target' });
    expect(evaluate({ id: 'new' })).toMatchObject({
      is: 'excluded',
      why: 'It was not listed yet when planning started',
    });
  });

  test('does not include a copy with an unknown status, and reports why', () => {
    expect(evaluate({ status: 'migrating' })).toEqual({
      is: 'ineligible',
      why: 'Its status is migrating; only active, paused and suspended copies are touched.',
    });
    expect(evaluate({ status: 'initializing' })).toMatchObject({ is: 'ineligible' });
  });

  test('deletes no copy whose live site is not in the account, unless no announcement is needed', () => {
    const why = 'Its live site s is not in the account, so its deletion cannot be announced.';
    expect(evaluate({}, {}, [])).toEqual({ is: 'ineligible', why });
    expect(evaluate({}, { grace: 0 }, [])).toMatchObject({ is: 'target' });
    expect(evaluate({}, { grace: 0, unless_tagged: ['8'] }, [])).toMatchObject({ is: 'ineligible' });
  });

  test('deletes a copy only when the tags of its live site are shown and none of them keeps it', () => {
    const tagged = (tags?: { id: string; name?: string }[]) =>
      evaluate({}, { unless_tagged: ['8'] }, [{ id: 's', url: 'https://s.example', ...(tags && { tags }) }]);

    expect(tagged([])).toMatchObject({ is: 'target' });
    expect(tagged([{ id: '8', name: 'Keep' }])).toMatchObject({ is: 'excluded' });
    expect(tagged([{ id: '8' }])).toMatchObject({ is: 'excluded' });
    expect(tagged([{ id: '7' }])).toMatchObject({ is: 'target' });
    expect(() => tagged()).toThrow('The service does not show site.tags.');
  });
});

describe('finding out whether an extension happened', () => {
  const note = '2026-11-24T06:00:00Z';
  const reconcile = async (copy: object | undefined) =>
    stagingCleanup.reconcile(
      {
        api: {
          async showStagingSite() {
            if (!copy) throw new GoneError('showStagingSite');
            return { staging_site: copy };
          },
        },
        target: { id: 'c', label: 'c' },
        state: { step: 'look', siteId: 's' },
      } as unknown as Parameters<typeof stagingCleanup.reconcile>[0],
      { operation: 'extendStagingSiteExpiry', at: 0, note },
    );

  test.each([
    ['later than before proves that it did', { expires_at: '2026-12-01T06:00:00.000Z' }, 'done'],
    [
      'equal to before, in another format, proves that it did not',
      { expires_at: '2026-11-24T06:00:00.000Z' },
      'absent',
    ],
    ['earlier than before proves nothing', { expires_at: '2026-11-23T06:00:00.000Z' }, 'unknown'],
  ])('an expiry %s', async (_, copy, is) => {
    expect(await reconcile({ id: 'c', ...copy })).toMatchObject({ is });
  });

  test('an expiry that is not shown is an error', async () => {
    await expect(reconcile({ id: 'c' })).rejects.toThrow('The service does not show staging.expires_at.');
  });

  test('a copy that is gone is skipped', async () => {
    expect(await reconcile(undefined)).toEqual({ is: 'skipped', reason: 'gone' });
  });
});

describe('options', () => {
  const messages = (options: object) =>
    stagingCleanup.options
      .safeParse(options)
      .error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`);

  test('must define what is stale, so that an empty policy deletes nothing', () => {
    const needed = ' needs older_than, expires_within, status or keep_latest to define what is stale';
    expect(messages({})).toEqual([needed]);
    expect(messages({ action: 'delete', unless_tagged: ['8'] })).toEqual([needed]);
    expect(messages({ keep_latest: 1 })).toBeUndefined();
    expect(messages({ status: [] })?.[0]).toMatch(/^status /);
    expect(messages({ status: ['paused', 'suspended'] })).toBeUndefined();
  });

  test('of an extension must prevent that the next run extends the same copy again', () => {
    expect(messages({ action: 'extend', older_than: '1d' })).toEqual(['days is required by action: extend']);
    expect(messages({ action: 'extend', older_than: '1d', days: 7 })?.[0]).toMatch(
      /^expires_within is required/,
    );
    expect(messages({ action: 'extend', expires_within: '7d', days: 7 })?.[0]).toMatch(
      /^days must be longer/,
    );
    expect(messages({ action: 'extend', expires_within: '7d', days: 8 })).toBeUndefined();
    expect(messages({ older_than: '1d', days: 8 })).toEqual(['days applies only to action: extend']);
  });

  test('accept only a marker that can be found in a note', () => {
    expect(messages({ keep_latest: 1, marker: 'x]' })).toEqual([
      'marker must have 8 to 100 characters, none of them a bracket',
    ]);
  });
});
