/** A person cancels an announced change (`grace`) by a command: it is never made, whatever becomes of the note. */
import { beforeEach, describe, expect, test } from 'vitest';
import { apiCall } from '../../jobs/api-call/job.ts';
import { answerOnce, carryOut } from '../../src/control/carry-out.ts';
import {
  type CancelledAnswer,
  cancelAnnouncement,
  listAnnouncements,
  sentencesOf,
} from '../../src/control/commands/announcements.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { around } from '../support/between.ts';
import { aPolicy } from '../support/builders.ts';
import type { World } from '../support/caretaker.ts';
import { deletionAfter } from '../support/old-copies.ts';
import { worldOfTest } from '../support/world-of-test.ts';
import { actor, operator, viewer } from './acting.ts';

const DAY = 86_400_000;
const policy = deletionAfter('1d');
let world: World;

/** A site with one copy, which is old enough. */
async function aCopy(): Promise<string> {
  world = await worldOfTest({ sites: 1 });
  world.sandbox.staging.clear();
  return world.sandbox.staging.make('site-0001', 15);
}
async function runOf(one: Policy = policy) {
  const run = await world.ended(await world.fire(one));
  return Object.fromEntries((await world.targets(run)).map((target) => [target.id, target]));
}
const listed = async () => {
  const { announcements } = await carryOut(listAnnouncements, world.caretaker, {}, operator);
  return announcements;
};
async function cancel(reason?: string): Promise<CancelledAnswer> {
  const [one] = await listed();
  const input = { announcement: one?.id ?? '', ...(reason ? { reason } : {}) };
  const cancelled = await carryOut(cancelAnnouncement, world.caretaker, input, operator);
  return cancelAnnouncement.toAnswer(cancelled, input) as CancelledAnswer;
}
const notes = () =>
  world.sandbox
    .site('site-0001')
    .notes()
    .filter((content) => content.includes('old-copies'));
const effects = () => world.sandbox.journal.effects.map(({ operation }) => operation);
const requests = () => Object.values(world.sandbox.journal.totals.requests).reduce((sum, n) => sum + n, 0);

describe('the deletion of a copy that is announced', () => {
  let copy: string;
  beforeEach(async () => {
    copy = await aCopy();
    expect((await runOf())[copy]).toMatchObject({ reason: 'announced' });
  });

  test('is listed with its date; it is not made once it is cancelled, and its note is gone at once', async () => {
    expect(await listed()).toMatchObject([
      {
        ...{ policy: 'old-copies', account: 'default', target: copy, siteId: 'site-0001' },
        memory: { from: expect.any(Number), noteId: expect.any(String) },
      },
    ]);
    const before = requests();
    const answer = await cancel('a client needs it');

    expect(answer).toMatchObject({
      note: 'removed',
      cancelled_by: 'anna',
      reason: 'a client needs it',
      in_progress: null,
    });
    expect(requests() - before).toBe(2);
    expect(notes()).toEqual([]);
    for (const days of [0, 2, 3]) {
      world.clock.leap(days * DAY);
      expect((await runOf())[copy]).toMatchObject({
        outcome: 'skipped',
        reason: 'announcement-removed',
        detail: expect.stringMatching(/^Its announcement for .* was cancelled by anna, so it is kept until /),
      });
    }
    expect(effects()).toEqual(['createSiteNote', 'deleteSiteNote']);
    expect(await listed(), 'the first run after it has seen that the note is gone').toEqual([]);
  });

  test('stays cancelled while the policy does not select it for a while', async () => {
    await cancel();
    await runOf(deletionAfter('1d', 'staging.id == "another"'));
    world.clock.leap(2 * DAY);

    expect((await runOf())[copy]).toMatchObject({ reason: 'announcement-removed' });
  });

  test.each(['status-503', 'reset-before'] as const)(
    'is cancelled while the service does not answer (%s); the next run removes the note',
    async (fault) => {
      world.sandbox.outage.begin(fault);
      const answer = await cancel();
      world.sandbox.outage.end();

      expect(answer).toMatchObject({ note: 'left', note_detail: expect.any(String) });
      expect(sentencesOf(answer).join(' ')).toContain('the next run of old-copies does so');
      expect(notes()).toHaveLength(1);
      world.clock.leap(2 * DAY);
      const targets = await runOf();
      expect(targets[copy]).toMatchObject({ reason: 'announcement-removed' });
      expect(targets[`announcement of deleteStagingSite ${copy}`]).toMatchObject({
        outcome: 'succeeded',
        reason: 'announcement-withdrawn',
        detail: 'anna has cancelled the change. Its note was removed.',
      });
      expect(notes()).toEqual([]);
      expect(effects()).not.toContain('deleteStagingSite');
    },
  );

  test('is cancelled though the answer about its note is lost', async () => {
    world.sandbox.failNext({ operation: 'deleteSiteNote' }, 'reset-after');
    expect(await cancel()).toMatchObject({ note: 'left' });

    await runOf();
    expect(effects()).toEqual(['createSiteNote', 'deleteSiteNote']);
    expect(await listed()).toEqual([]);
  });

  test('a note that somebody has edited stays, and says that the change was cancelled', async () => {
    world.sandbox.site('site-0001').changeNotes((content) => `Ask Berta first.\n${content}`);

    expect(await cancel()).toMatchObject({ note: 'marked' });
    const [note = ''] = notes();
    expect(note).toContain('Ask Berta first.');
    expect(note).toMatch(
      /Cancelled on .* UTC by anna: Caretaker's policy "old-copies" does not make this change\./,
    );
    expect(note).toMatch(/, closed\]$/);
    world.clock.leap(2 * DAY);
    expect((await runOf())[copy]).toMatchObject({ reason: 'announcement-removed' });
  });

  test('shows in the plan who has cancelled it', async () => {
    await cancel();
    const { targets } = await world.caretaker.engine.preview(policy);
    expect(targets.map(({ plan }) => plan)).toEqual([
      'Nothing: anna has cancelled it',
      'Would withdraw its announcement: anna has cancelled it',
    ]);
  });

  test('that a run has begun to make is reported, since it may be made nevertheless', async () => {
    world.clock.leap(2 * DAY);
    const { client } = world.caretaker.link('default');
    let answer: CancelledAnswer | undefined;
    around(client, 'call', async (send, operation) => {
      if (operation === 'deleteStagingSite') answer = await cancel();
      return send();
    });

    expect((await runOf())[copy]).toMatchObject({ reason: 'done' });
    expect(answer?.in_progress).toMatch(/^old-copies\./);
    expect(sentencesOf(answer as CancelledAnswer).at(-1)).toContain('the change may be made nevertheless');
  });

  test.each(['noted', 'showSiteNote', 'deleteSiteNote'])(
    'is cancelled once by a request that is repeated after its process died at %s',
    async (step) => {
      const [one] = await listed();
      const input = { announcement: one?.id ?? '' };
      const { records } = world.caretaker;
      let isDead = false;
      const dieAt = async <T>(name: string, send: () => Promise<T>): Promise<T> => {
        const answer = await send();
        if (name !== step || isDead) return answer;
        isDead = true;
        throw new Error('the process died');
      };
      around(records.once, 'replace', (send) => dieAt('noted', send));
      around(world.caretaker.link('default').client, 'call', (send, name) => dieAt(name, send as never));
      const request = () => answerOnce(cancelAnnouncement, world.caretaker, input, operator, 'one key');

      await expect(request()).rejects.toThrow('the process died');
      expect(await request()).toMatchObject({ cancelled_by: 'anna', note: 'removed' });
      expect(effects()).toEqual(['createSiteNote', 'deleteSiteNote']);
    },
  );
});

test('an announcement without a note is cancelled in the records alone, until 90 days after its date', async () => {
  world = await worldOfTest({ sites: 1 });
  const { client } = world.caretaker.link('default');
  const { tag } = await client.call(
    'createTag',
    { body: { tag: { name: 'old' } } },
    { requestClass: 'person' },
  );
  const ofTags = aPolicy({
    name: 'old-copies',
    job: 'api-call',
    select: { from: 'listTags', filters: {}, where: 'tag.name == "old"' },
    options: apiCall.options.parse({ operation: 'deleteTag', confirm: 'deleteTag', grace: '1d' }),
  });
  expect((await runOf(ofTags))[tag.id]).toMatchObject({ reason: 'announced' });
  const before = requests();

  expect(await cancel()).toMatchObject({ note: 'none', site: null });
  expect(requests()).toBe(before);
  world.clock.leap(2 * DAY);
  expect((await runOf(ofTags))[tag.id]).toMatchObject({ reason: 'announcement-removed' });
  world.clock.leap(90 * DAY);
  expect((await runOf(ofTags))[tag.id]).toMatchObject({ reason: 'announced' });
  expect((await listed())[0]?.memory).not.toHaveProperty('cancelled');
  expect(effects()).toEqual(['createTag']);
});

test('an announcement that a run is writing cannot be cancelled yet', async () => {
  await aCopy();
  const { client } = world.caretaker.link('default');
  const refusals: unknown[] = [];
  around(client, 'call', async (send, operation) => {
    if (operation === 'createSiteNote') refusals.push(await cancel().catch((error: unknown) => error));
    return send();
  });
  await runOf();

  expect(refusals).toMatchObject([{ code: 'ANNOUNCEMENT' }]);
  expect(await cancel()).toMatchObject({ note: 'removed' });
});

test('a user who may only read, or who has other policies, cancels nothing', async () => {
  await aCopy();
  await runOf();
  const [one] = await listed();
  const input = { announcement: one?.id ?? '' };
  const elsewhere = actor([{ role: 'operator', policies: ['another'] }]);

  for (const who of [viewer, elsewhere])
    await expect(carryOut(cancelAnnouncement, world.caretaker, input, who)).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
  const others = await carryOut(listAnnouncements, world.caretaker, {}, elsewhere);
  expect(others).toEqual({ announcements: [], total: 0 });
  expect(notes()).toHaveLength(1);
});
