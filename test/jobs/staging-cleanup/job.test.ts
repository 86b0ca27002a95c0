/**
 * What becomes of staging copies: which are stale, how they are announced, deleted, extended, and what is
 * left alone.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { stagingCleanup } from '../../../jobs/staging-cleanup/job.ts';
import { GoneError, RejectedError, UnavailableError } from '../../../src/client/errors.ts';
import type { Input, OperationId } from '../../../src/contract/operations.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { around } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';

const DAY = 86_400_000;
let world: World;
let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
  stop = undefined;
});

/**
 * Three sites, and copies of them: the number of the site, and how many days ago the copy was made. Oldest
 * first.
 */
async function withCopies(...copies: [site: number, daysAgo: number][]): Promise<string[]> {
  world = await startWorld({ sites: 3 });
  stop = world.stop;
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

/** Runs the policy to its end; gives what became of each copy. */
async function clean(options: object = {}, changes: Partial<Policy> = {}) {
  const run = await world.ended(await world.fire(cleanup(options, changes)));
  return Object.fromEntries((await world.targets(run)).map((target) => [target.id, target]));
}

const reasonsOf = (targets: Awaited<ReturnType<typeof clean>>) =>
  Object.fromEntries(Object.values(targets).map(({ id, reason }) => [id, reason]));

const call = <Id extends OperationId>(operation: Id, input: Input<Id>) =>
  world.caretaker.link('default').client.call(operation, input, { requestClass: 'person' });

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

const effects = () => world.sandbox.journal.effects.map(({ operation }) => operation);

/** Has something happen when an operation is about to be sent for the first time, or the `nth`. */
function justBefore(operation: OperationId, happen: () => unknown, nth = 1) {
  let seen = 0;
  around(world.caretaker.link('default').client, 'call', async (send, asked) => {
    if (asked === operation) seen += 1;
    if (asked === operation && seen === nth) await happen();
    return send();
  });
}

/** Copies are listed for the prepared, for the candidates, and a third time before one is changed. */
const beforeLookingAgain = (happen: () => unknown) => justBefore('listStagingSites', happen, 3);

describe('a stale copy', () => {
  test('is announced on its live site, and not again while the grace time lasts', async () => {
    const [stale = ''] = await withCopies([0, 15]);
    await call('createTag', { body: { tag: { name: 'keep-staging' } } });

    const first = await clean({ unless_tagged: ['keep-staging'] });
    const second = await clean();

    expect(reasonsOf(first)).toEqual({ [stale]: 'announced' });
    expect(first[stale]).toMatchObject({ outcome: 'succeeded' });
    expect(first[stale]?.detail).toMatch(/^To be deleted from .* UTC on: made on .*, suspended, expired on /);
    expect(second[stale]?.detail).toBe(first[stale]?.detail);
    expect(effects()).toEqual(['createTag', 'createSiteNote']);
    const [note] = await notesOf(0);
    expect(note?.content).toContain(`(${stale}) is stale: made on `);
    expect(note?.content).toContain('To cancel that, remove this note');
    expect(note?.content).toContain('tag the site "keep-staging"');
  });

  test('is deleted by the first run after the grace time, and the note says so', async () => {
    const [stale = ''] = await withCopies([0, 15]);
    await clean({ grace: '3d' });
    world.clock.leap(3 * DAY);

    const targets = await clean({ grace: '3d' });

    expect(targets[stale]).toMatchObject({ outcome: 'succeeded', reason: 'done' });
    expect(targets[stale]?.detail).toMatch(/^Deleted: made on /);
    expect(effects()).toEqual(['createSiteNote', 'deleteStagingSite', 'updateSiteNote']);
    const [note, ...others] = await notesOf(0);
    expect(note?.content).toMatch(/was deleted on .* by Caretaker's policy "cleanup", as announced/);
    expect(note?.content).toContain(`[caretaker staging-cleanup: ${stale}, closed]`);
    expect(others).toEqual([]);
    expect(await clean()).toEqual({});
    expect(world.sandbox.journal.countOf('showStagingSite')).toBe(0);
  });

  test('whose note was removed is announced again, with a new grace time', async () => {
    const [stale = ''] = await withCopies([0, 15]);
    const first = await clean();
    world.clock.leap(3 * DAY);
    const [note] = await notesOf(0);
    await call('deleteSiteNote', { site_id: 'site-0001', note_id: note?.id ?? '' });

    const second = await clean();

    expect(reasonsOf(second)).toEqual({ [stale]: 'announced' });
    expect(second[stale]?.detail).not.toBe(first[stale]?.detail);
    expect(effects()).toEqual(['createSiteNote', 'deleteSiteNote', 'createSiteNote']);
  });

  test('whose announcement was put off stays until then', async () => {
    const [stale = ''] = await withCopies([0, 15]);
    await clean();
    await moveAnnouncement(0, new Date(world.clock.now() + 5 * DAY).toISOString());
    world.clock.leap(4 * DAY);

    expect(reasonsOf(await clean())).toEqual({ [stale]: 'announced' });
    world.clock.leap(1.1 * DAY);
    expect(reasonsOf(await clean())).toEqual({ [stale]: 'done' });
  });

  test.each([
    ['is older than three months', '2025-01-01T00:00:00Z'],
    ['has no date that can be read', 'tomorrow'],
  ])('whose announcement %s is announced again in the same note', async (_, date) => {
    const [stale = ''] = await withCopies([0, 15]);
    await clean();
    await moveAnnouncement(0, date);

    expect(reasonsOf(await clean())).toEqual({ [stale]: 'announced' });

    expect(effects()).toEqual(['createSiteNote', 'updateSiteNote', 'updateSiteNote']);
    const [note] = await notesOf(0);
    expect(Date.parse(/ from (\S+)\]$/.exec(note?.content ?? '')?.[1] ?? '')).toBeGreaterThan(
      world.clock.now() + 2.9 * DAY,
    );
  });

  test('that is stale no longer stays, whatever was announced', async () => {
    await withCopies([0, 15]);
    await clean();
    world.clock.leap(4 * DAY);
    const { tags } = await call('listTags', {});
    const [tag] = tags;
    await call('assignTag', { tag_id: tag?.id ?? '', body: { site_ids: ['site-0001'] } });

    expect(await clean({ unless_tagged: [tag?.name?.toUpperCase()] })).toEqual({});
    expect(await clean({ unless_tagged: [tag?.id] })).toEqual({});
  });

  test('is deleted at once, without a note, when there is no grace time', async () => {
    const [stale = ''] = await withCopies([0, 15]);

    expect(reasonsOf(await clean({ grace: 0 }))).toEqual({ [stale]: 'done' });
    expect(effects()).toEqual(['deleteStagingSite']);
  });

  test('whose live site left the account meanwhile is gone with it', async () => {
    const [stale = ''] = await withCopies([0, 15]);
    justBefore('listSiteNotes', () => call('deleteSite', { site_id: 'site-0001' }));

    const targets = await clean();

    expect(targets[stale]).toMatchObject({ outcome: 'skipped', reason: 'gone' });
    expect(targets[stale]?.detail).toBe('Its live site is no longer in the account.');
  });
});

describe('a copy that is gone before it is deleted', () => {
  test('when it is looked at again is already-done', async () => {
    const [stale = ''] = await withCopies([0, 15]);
    beforeLookingAgain(() => world.sandbox.staging.clear());

    expect((await clean({ grace: 0 }))[stale]).toMatchObject({
      outcome: 'succeeded',
      reason: 'already-done',
    });
    expect(effects()).toEqual([]);
  });

  test('at the very last moment is already-done', async () => {
    const [stale = ''] = await withCopies([0, 15]);
    justBefore('deleteStagingSite', () => world.sandbox.staging.clear());

    expect((await clean({ grace: 0 }))[stale]).toMatchObject({
      outcome: 'succeeded',
      reason: 'already-done',
    });
    expect(effects()).toEqual([]);
  });

  test('has the note that announced it say so', async () => {
    const [stale = ''] = await withCopies([0, 15]);
    await clean();
    world.clock.leap(3 * DAY);
    justBefore('deleteStagingSite', () => world.sandbox.staging.clear());

    expect(reasonsOf(await clean())).toEqual({ [stale]: 'already-done' });
    expect((await notesOf(0))[0]?.content).toContain('was announced for deletion, and was gone before');
  });
});

describe('a copy that changes between plan and deletion', () => {
  test('because somebody extends it is left alone', async () => {
    const [stale = ''] = await withCopies([0, 15]);
    const extend = () => call('extendStagingSiteExpiry', { staging_site_id: stale, body: { days: 3 } });
    beforeLookingAgain(extend);

    const targets = await clean({ grace: 0 });

    expect(targets[stale]).toMatchObject({ outcome: 'skipped', reason: 'not-eligible' });
    expect(targets[stale]?.detail).toBe('It has changed since the plan was made.');
    expect(effects()).toEqual(['extendStagingSiteExpiry']);
  });

  test('because a download of it begins is left alone', async () => {
    const [stale = ''] = await withCopies([0, 15]);
    beforeLookingAgain(() => startTask('download_staging', [{ id: stale }]));

    const targets = await clean({ grace: 0 });

    expect(targets[stale]?.detail).toMatch(/^The task task-\d+ \(download_staging\) is active on it/);
    expect(effects()).toEqual([]);
  });

  test('because a task begins on it whose type is not shown is left alone', async () => {
    const [stale = ''] = await withCopies([0, 15]);
    world.sandbox.hide('listTasks', 'type');
    beforeLookingAgain(() => startTask('download_staging', [{ id: stale }]));

    expect((await clean({ grace: 0 }))[stale]?.detail).toMatch(/^The task task-\d+ .* is active on it/);
    expect(effects()).toEqual([]);
  });

  test('because a newer one is gone is kept by keep_latest', async () => {
    const [stale = '', newer = ''] = await withCopies([0, 15], [0, 1]);
    beforeLookingAgain(() => call('deleteStagingSite', { staging_site_id: newer }));

    const targets = await clean({ grace: 0, keep_latest: 1 });

    expect(targets[stale]).toMatchObject({ outcome: 'skipped', reason: 'not-eligible' });
    expect(targets[stale]?.detail).toMatch(/keep_latest keeps this one/);
    expect(world.sandbox.staging.ids()).toEqual([stale]);
  });
});

const startTask = (type: string, input: { id: string }[]) =>
  world.sandbox.startTask({ type, input, takesMs: 3_600_000 });

describe('a copy that a running task is at work on', () => {
  const busy = async () => {
    const targets = await clean({ grace: 0 });
    const left = Object.values(targets).filter(({ reason }) => reason === 'not-eligible');
    return left.map(({ id }) => id).sort();
  };

  test('is left alone when the task names it, and only it', async () => {
    const [first = '', second = ''] = await withCopies([0, 15], [0, 16], [1, 15]);
    startTask('configure_staging_site', [{ id: first }]);
    expect(await busy()).toEqual([first]);
    expect(world.sandbox.journal.effectsOf('deleteStagingSite')).toContain(second);
  });

  test('is left alone with all copies of its site when the task names the site', async () => {
    const [first = '', second = ''] = await withCopies([0, 15], [0, 16], [1, 15]);
    startTask('staging', [{ id: 'site-0001' }]);
    expect(await busy()).toEqual([first, second]);
  });

  test('may be any copy when the task names nothing we know, so all are left alone', async () => {
    const copies = await withCopies([0, 15], [0, 16], [1, 15]);
    startTask('download_staging', []);
    expect(await busy()).toEqual(copies);
    expect(effects()).toEqual([]);
  });

  test('is none of these when the task makes a copy of another site', async () => {
    await withCopies([0, 15]);
    startTask('staging', [{ id: 'site-0002' }]);
    expect(await busy()).toEqual([]);
  });

  test('is told in the words of the run', async () => {
    const [first = ''] = await withCopies([0, 15]);
    const task = startTask('download_staging', [{ id: first }]);
    expect((await clean())[first]).toMatchObject({
      outcome: 'skipped',
      detail: `The task ${task} (download_staging) is active on it, or may be: the service does not always show the copy.`,
    });
  });
});

describe('what is kept', () => {
  const leftOut = async (options: object, changes: Partial<Policy> = {}) => {
    const preview = await world.caretaker.engine.preview(cleanup(options, changes));
    return Object.fromEntries(preview.excluded.map(({ id, why }) => [id, why]));
  };

  test('is told with the condition that keeps it', async () => {
    const [old = '', paused = '', young = ''] = await withCopies([0, 15], [0, 8], [1, 1]);

    expect(await leftOut({ keep_latest: 1 })).toEqual({
      [paused]: 'It was made less than 14d ago (older_than)',
      [young]: 'It was made less than 14d ago (older_than)',
    });
    expect(await leftOut({ older_than: '1s', keep_latest: 1 })).toEqual({
      [paused]: 'It is the newest copy of its live site (keep_latest)',
      [young]: 'It is the newest copy of its live site (keep_latest)',
    });
    expect(await leftOut({ older_than: '1s', status: ['suspended'] })).toEqual({
      [paused]: 'It is paused (status)',
      [young]: 'It is active (status)',
    });
    expect(await leftOut({ older_than: '1s', expires_within: '7d' })).toEqual({
      [young]: 'It does not expire within 7d (expires_within)',
    });
    expect(await leftOut({ older_than: '1s', keep_latest: 2 })).toMatchObject({
      [old]: 'It is one of the 2 newest copies of its live site (keep_latest)',
    });
  });

  test('is decided by conditions on the copy and on its live site', async () => {
    const [first = '', second = ''] = await withCopies([0, 15], [1, 15]);
    const { sites } = await call('listSites', { filters: { id: { eq: 'site-0002' } } });
    const where = `staging.status == "suspended" && site.url == "${sites[0]?.url}"`;

    expect(await leftOut({}, { select: { filters: {}, where } })).toEqual({
      [first]: 'select.where does not hold',
    });
    expect(reasonsOf(await clean({}, { select: { filters: {}, where } }))).toEqual({ [second]: 'announced' });
  });

  test.each(['delete', 'extend', 'report'])(
    'by a tag that is not in the account is unknown, so %s touches and tells none, and the run says so',
    async (action) => {
      const [stale = ''] = await withCopies([0, 15]);
      const how = action === 'extend' ? { expires_within: '7d', days: 14 } : {};
      const options = { action, unless_tagged: ['keep-stagign'], ...how };

      const targets = await clean(action === 'delete' ? { ...options, grace: 0 } : options);

      expect(targets[stale]).toMatchObject({
        outcome: 'skipped',
        reason: 'not-eligible',
        detail:
          'The account has no tag "keep-stagign" (unless_tagged), so it is unknown which copies must stay.',
      });
      expect(effects()).toEqual([]);
      expect(await leftOut(options)).toEqual({
        'tag keep-stagign':
          'No tag of the account has this name or id (unless_tagged), so no copy is touched',
      });
    },
  );
});

describe('an answer that is lost', () => {
  test.each(['reset-after', 'reset-before'] as const)(
    'leads to one announcement, one deletion and one closing note (%s)',
    async (fault) => {
      const [stale = ''] = await withCopies([0, 15]);
      world.sandbox.failNext({ operation: 'createSiteNote' }, fault);
      expect(reasonsOf(await clean())).toEqual({ [stale]: 'announced' });
      world.clock.leap(3 * DAY);
      world.sandbox.failNext({ operation: 'deleteStagingSite' }, fault);
      world.sandbox.failNext({ operation: 'updateSiteNote' }, fault);

      expect(reasonsOf(await clean())).toEqual({ [stale]: 'done' });

      expect(effects()).toEqual(['createSiteNote', 'deleteStagingSite', 'updateSiteNote']);
      expect(await notesOf(0)).toHaveLength(1);
    },
  );

  test.each(['reset-after', 'reset-before'] as const)('leads to one extension (%s)', async (fault) => {
    const [copy = ''] = await withCopies([0, 13]);
    world.sandbox.failNext({ operation: 'extendStagingSiteExpiry' }, fault);

    const targets = await clean(extension);

    expect(targets[copy]).toMatchObject({ outcome: 'succeeded', reason: 'done' });
    expect(effects()).toEqual(['extendStagingSiteExpiry']);
  });
});

const shortly: Partial<Policy> = { timeout: { targetMs: 90_000, runMs: 28_800_000 } };

describe('a copy of which nobody can tell in time', () => {
  test('whether it was extended is unknown, and is not extended again', async () => {
    const [copy = ''] = await withCopies([0, 13]);
    justBefore('extendStagingSiteExpiry', () => {
      world.sandbox.failNext({ operation: 'extendStagingSiteExpiry' }, 'reset-after');
      world.sandbox.failNext({ operation: 'showStagingSite', times: 1_000 }, 'status-503');
    });

    const targets = await clean(extension, shortly);

    expect(targets[copy]).toMatchObject({ outcome: 'failed', reason: 'unknown-effect' });
    expect(effects()).toEqual(['extendStagingSiteExpiry']);
  });

  test('whether it was announced is unavailable after all attempts, and stays', async () => {
    const [copy = ''] = await withCopies([0, 15]);
    // Others are answered meanwhile: it is no outage.
    around(world.caretaker.link('default').client, 'call', async (send, asked) => {
      if (asked !== 'listSiteNotes') return send();
      await call('listTags', {});
      throw new UnavailableError(asked, true, 'HTTP 500');
    });

    const targets = await clean({}, { retry: { ...aPolicy().retry, attempts: 2, delayMs: 5_000 } });

    expect(targets[copy]).toMatchObject({ outcome: 'failed', reason: 'unavailable', attempts: 2 });
    expect(effects()).toEqual([]);
  });
});

const extension = { action: 'extend', older_than: undefined, expires_within: '3d', days: 7 };

describe('extending', () => {
  test('lets a copy live longer, once', async () => {
    const [copy = '', other = ''] = await withCopies([0, 13], [1, 1]);

    const targets = await clean(extension);

    expect(Object.keys(targets)).toEqual([copy]);
    expect(targets[copy]?.detail).toMatch(/^It expires on \d{4}-\d\d-\d\d instead of \d{4}-\d\d-\d\d\.$/);
    expect(await clean(extension)).toEqual({});
    expect(effects()).toEqual(['extendStagingSiteExpiry']);
    expect(world.sandbox.staging.ids()).toContain(other);
  });

  test('keeps no credentials of the copy, though the service answers with them', async () => {
    const [copy = ''] = await withCopies([0, 13]);
    const { staging_site } = await call('showStagingSite', { staging_site_id: copy });
    const secret = staging_site.credentials?.server?.password ?? '';
    expect(secret).not.toBe('');

    const targets = await clean(extension);

    expect(JSON.stringify([targets, world.log.lines])).not.toContain(secret);
  });

  test('beyond what the service allows is rejected in its words', async () => {
    const [copy = ''] = await withCopies([0, 13]);
    const targets = await clean({ ...extension, days: 29 });
    expect(targets[copy]).toMatchObject({ outcome: 'failed', reason: 'rejected' });
    expect(targets[copy]?.detail).toContain('30 days at most');
  });

  test('of a copy that is gone by then is skipped', async () => {
    const [copy = ''] = await withCopies([0, 13]);
    justBefore('extendStagingSiteExpiry', () => world.sandbox.staging.clear());
    expect((await clean(extension))[copy]).toMatchObject({ outcome: 'skipped', reason: 'gone' });
  });
});

test('a report tells of stale copies, and changes nothing', async () => {
  const [stale = ''] = await withCopies([0, 15], [0, 1]);

  const targets = await clean({ action: 'report' });

  expect(targets[stale]).toMatchObject({
    outcome: 'succeeded',
    reason: 'done',
    findings: [{ severity: 'warning', message: expect.stringMatching(/^Stale: made on /) }],
  });
  expect(Object.keys(targets)).toEqual([stale]);
  expect(effects()).toEqual([]);
});

describe('the note of a copy that was deleted', () => {
  const deleteAnnounced = async () => {
    const [stale = ''] = await withCopies([0, 15]);
    await clean();
    world.clock.leap(3 * DAY);
    return stale;
  };

  test('may be gone by then', async () => {
    const stale = await deleteAnnounced();
    const [note] = await notesOf(0);
    justBefore('updateSiteNote', () =>
      call('deleteSiteNote', { site_id: 'site-0001', note_id: note?.id ?? '' }),
    );

    expect(reasonsOf(await clean())).toEqual({ [stale]: 'done' });
  });

  test('may refuse to be rewritten: the copy is deleted all the same, and the run tells of it', async () => {
    const stale = await deleteAnnounced();
    justBefore('updateSiteNote', () => {
      throw new RejectedError('updateSiteNote', 422, { message: 'The site is locked.' });
    });

    const targets = await clean();

    expect(targets[stale]).toMatchObject({
      outcome: 'succeeded',
      reason: 'done',
      findings: [
        { severity: 'info', message: expect.stringMatching(/^Deleted: made on /) },
        { severity: 'warning', message: expect.stringContaining('The site is locked.') },
      ],
    });
    expect(world.sandbox.staging.ids()).toEqual([]);
  });
});

describe('a copy of which too little is known', () => {
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
      atWork: new Map(),
      tags: { missing: [], names: new Map([['7', 'gold']]) },
    };
    const asked = stagingCleanup.options.parse({ action: 'delete', older_than: '14d', ...options });
    const facts = {
      options: asked,
      prepared,
      now,
      serviceNow: now,
      from: 'listStagingSites' as const,
      retry: false,
    };
    const runContext = { policy: 'cleanup', at: now, timezone: 'UTC' };
    return stagingCleanup.evaluate?.({ id }, { ...facts, runContext });
  };

  test.each([
    ['created_at', {}],
    ['expires_at', { expires_within: '1d' }],
    ['status', { status: ['paused'] }],
    ['status', {}],
    // Without these two nobody could tell later whether it has changed since the plan.
    ['updated_at', {}],
    ['expires_at', {}],
    ['site_id', { grace: 0 }],
  ])('is judged by nothing as long as its %s is not shown (%j)', (field, options) => {
    expect(() => evaluate({ [field]: undefined }, options)).toThrow(
      `The service does not show staging.${field}.`,
    );
  });

  test('that was not there when the account was surveyed is left out', () => {
    expect(evaluate({})).toMatchObject({ is: 'target' });
    expect(evaluate({ id: 'new' })).toMatchObject({
      is: 'excluded',
      why: 'It appeared while the plan was made',
    });
  });

  test('is left alone in a status that we do not know, and the run says so', () => {
    expect(evaluate({ status: 'migrating' })).toEqual({
      is: 'ineligible',
      why: 'It is left alone while its status is migrating.',
    });
    expect(evaluate({ status: 'initializing' })).toMatchObject({ is: 'ineligible' });
  });

  test('is not deleted when its live site is not in the account, unless nobody is to be told', () => {
    const why = 'Its live site s is not in the account, so its deletion cannot be announced.';
    expect(evaluate({}, {}, [])).toEqual({ is: 'ineligible', why });
    expect(evaluate({}, { grace: 0 }, [])).toMatchObject({ is: 'target' });
    expect(evaluate({}, { grace: 0, unless_tagged: ['keep'] }, [])).toMatchObject({ is: 'ineligible' });
  });

  test('is deleted only when the tags of its live site were shown, and none of them keeps it', () => {
    const tagged = (tags?: { id: string; name?: string }[]) =>
      evaluate({}, { unless_tagged: ['keep'] }, [
        { id: 's', url: 'https://s.example', ...(tags && { tags }) },
      ]);

    expect(tagged([])).toMatchObject({ is: 'target' });
    expect(tagged([{ id: '8', name: 'Keep' }])).toMatchObject({ is: 'excluded' });
    expect(() => tagged()).toThrow('The service does not show site.tags.');
    // A tag without its name is known by its id, or may be the one that keeps the copy.
    expect(tagged([{ id: '7' }])).toMatchObject({ is: 'target' });
    expect(() => tagged([{ id: '8' }])).toThrow('The service does not show site.tags.name.');
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
    ['later than it was: it did', { expires_at: '2026-12-01T06:00:00.000Z' }, 'done'],
    ['as it was, whatever its spelling: it did not', { expires_at: '2026-11-24T06:00:00.000Z' }, 'absent'],
    ['earlier than it was: nobody knows', { expires_at: '2026-11-23T06:00:00.000Z' }, 'unknown'],
  ])('with an expiry %s', async (_, copy, is) => {
    expect(await reconcile({ id: 'c', ...copy })).toMatchObject({ is });
  });

  test('with an expiry that is not shown cannot be done', async () => {
    await expect(reconcile({ id: 'c' })).rejects.toThrow('The service does not show staging.expires_at.');
  });

  test('of a copy that is gone does not matter', async () => {
    expect(await reconcile(undefined)).toEqual({ is: 'skipped', reason: 'gone' });
  });
});

describe('options', () => {
  const messages = (options: object) =>
    stagingCleanup.options
      .safeParse(options)
      .error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`);

  test('must say what is stale, so that an empty policy deletes nothing', () => {
    const needed = ' needs older_than, expires_within, status or keep_latest to say what is stale';
    expect(messages({})).toEqual([needed]);
    expect(messages({ action: 'delete', unless_tagged: ['keep'] })).toEqual([needed]);
    expect(messages({ keep_latest: 1 })).toBeUndefined();
    expect(messages({ status: [] })?.[0]).toMatch(/^status /);
    expect(messages({ status: ['paused', 'suspended'] })).toBeUndefined();
  });

  test('of an extension make sure that the next run does not extend again', () => {
    expect(messages({ action: 'extend', older_than: '1d' })).toEqual(['days is needed by action: extend']);
    expect(messages({ action: 'extend', older_than: '1d', days: 7 })?.[0]).toMatch(
      /^expires_within is needed/,
    );
    expect(messages({ action: 'extend', expires_within: '7d', days: 7 })?.[0]).toMatch(
      /^days must be more days/,
    );
    expect(messages({ action: 'extend', expires_within: '7d', days: 8 })).toBeUndefined();
    expect(messages({ older_than: '1d', days: 8 })).toEqual(['days is taken by action: extend alone']);
  });

  test('take a marker that can be found again', () => {
    expect(messages({ keep_latest: 1, marker: 'x]' })).toEqual([
      'marker must have 8 to 100 characters, none of them a bracket',
    ]);
  });
});
