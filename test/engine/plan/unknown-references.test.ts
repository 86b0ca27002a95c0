/**
 * What a policy refers to and the account does not have: work that deletes or mails does not begin; for any other work
 * it is an open finding until it is corrected. The same for lists that are known to be incomplete.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { check } from '../../../jobs/check/job.ts';
import { stagingCleanup } from '../../../jobs/staging-cleanup/job.ts';
import { updateCheck } from '../../../jobs/update-check/job.ts';
import type { Policy, Select } from '../../../src/policy/policy.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { aRollout } from '../../support/rollout-cuts.ts';
import { tagged } from '../person.ts';

let world: World;
let keep: string;

/** 105 sites, so that a list of them has two pages; the first has a staging copy, and the tag "keep". */
beforeAll(async () => {
  world = await startWorld({ sites: 105 });
  const { staging, siteIds } = world.sandbox;
  staging.clear();
  const [site = ''] = siteIds();
  staging.make(site, 20);
  keep = await tagged(world, 'keep', [site]);
});
afterAll(() => world.stop());

const live = { list: 'listSites', filters: {}, on: 'site.id == staging.site_id' } as const;

/** Deletes the staging copies that are selected. */
const deletion = (select: Partial<Select>, options: object = {}) =>
  aPolicy({
    name: 'cleanup',
    job: 'api-call',
    options: apiCall.options.parse({
      operation: 'deleteStagingSite',
      confirm: 'deleteStagingSite',
      ...options,
    }),
    select: { from: 'listStagingSites', filters: {}, ...select },
  });

const cleanup = (options: object, select: Partial<Select> = {}) =>
  aPolicy({
    name: 'cleanup',
    job: 'staging-cleanup',
    options: stagingCleanup.options.parse({ action: 'delete', older_than: '14d', grace: 0, ...options }),
    select: { filters: {}, ...select },
  });

/** Looks at sites, and changes nothing. */
const look = (select: Partial<Select>, name = 'look') =>
  aPolicy({
    name,
    job: 'check',
    options: check.options.parse({ severity: 'info' }),
    select: { from: 'listSites', filters: {}, limit: 2, ...select },
  });

const runOf = async (policy: Policy) => world.ended(await world.fire(policy));
const effects = () => world.sandbox.journal.effectsOf('deleteStagingSite');

describe('work that deletes does not begin when the account does not have', () => {
  test.each<[string, () => Policy, string]>([
    [
      'a tag in a condition on a joined item',
      () => deletion({ join: { live }, where: '!live.tags.exists(t, t.name == "kepp")' }),
      'The account has no tag called "kepp" (select.where). Did you mean "keep"?',
    ],
    [
      'a tag compared with `all`',
      () => cleanup({}, { where: 'site.tags.all(t, t.name != "kepp")' }),
      'The account has no tag called "kepp" (select.where). Did you mean "keep"?',
    ],
    [
      'a tag whose name begins with a text',
      () => deletion({ join: { live }, where: '!live.tags.exists(t, t.name.startsWith("kepp"))' }),
      'The account has no tag whose name begins with "kepp" (select.where).',
    ],
    [
      'a client in a condition',
      () => deletion({ join: { live }, where: 'live.client.company_name != "Nobody Ltd"' }),
      'The account has no client called "Nobody Ltd" (select.where).',
    ],
    [
      'a tag in the filter of a joined list',
      () => deletion({ join: { live: { ...live, filters: { tags: { in: ['99999'] } } } } }),
      'The account has no tag with the id "99999" (select.join.live.filters.tags).',
    ],
    [
      'a site in a filter',
      () => deletion({ filters: { site_id: { eq: 'site-9999' } } }),
      'The account has no site with the id "site-9999" (select.filters.site_id).',
    ],
    [
      'a tag in an option',
      () => cleanup({ unless_tagged: ['99999'] }),
      'The account has no tag with the id "99999" (with.unless_tagged[0]).',
    ],
    [
      'a tag in the gate of a rollout',
      () => ({
        ...cleanup({}),
        rollout: aRollout({ healthy: '!site.tags.exists(t, t.name == "kepp")' }),
      }),
      'The account has no tag called "kepp" (rollout.healthy). Did you mean "keep"?',
    ],
    [
      'a tag in a value of a call',
      () =>
        deletion(
          { join: { live } },
          {
            operation: 'createSiteNote',
            confirm: undefined,
            params: { site_id: { cel: 'staging.site_id' } },
            body: { note: { content: { cel: 'live.tags.exists(t, t.name == "kepp") ? "a" : "b"' } } },
          },
        ),
      'The account has no tag called "kepp" (with.body.note.content.cel). Did you mean "keep"?',
    ],
    [
      'a tag in the key of a call that is made once',
      () => deletion({ join: { live } }, { once: '{{ live.tags.exists(t, t.name == "kepp") }}' }),
      'The account has no tag called "kepp" (with.once). Did you mean "keep"?',
    ],
  ])('%s', async (_, policy, message) => {
    await expect(world.caretaker.engine.preview(policy())).rejects.toMatchObject({
      code: 'UNKNOWN_REFERENCE',
      message: expect.stringContaining(message),
    });
  });

  test('something that its policy refers to: the run fails', async () => {
    const run = await runOf(deletion({ join: { live }, where: '!live.tags.exists(t, t.name == "kepp")' }));

    expect(run).toMatchObject({ status: 'failed', counts: { planned: 0 } });
    expect(run.detail).toContain(
      'Planning failed: The account has no tag called "kepp" (select.where). Did you mean "keep"?',
    );
    expect(effects()).toEqual([]);
  });
});

test('a mail is not sent with a condition on a tag that the account does not have', async () => {
  const policy = deletion(
    {},
    { operation: 'sendReportEmail', confirm: undefined, body: { recipients: ['a@b.example'] } },
  );
  const where = 'report.site.id != "site-9999"';
  const run = await runOf({ ...policy, select: { from: 'listReports', filters: {}, where } });
  expect([run.status, run.detail]).toEqual([
    'failed',
    expect.stringContaining('no site with the id "site-9999"'),
  ]);
});

test('work that deletes begins when the account has all that it refers to', async () => {
  const where = '!live.tags.exists(t, t.name == "keep") && !live.tags.exists(t, t.name.startsWith("ke"))';
  const preview = await world.caretaker.engine.preview(deletion({ join: { live }, where }));
  expect(preview.warnings).toEqual([]);
  expect(preview.targets).toEqual([]);
});

test('what cannot be looked up is said to be unknown', async () => {
  const where = '!live.tags.exists(t, t.name.lowerAscii() == "keep")';
  const { warnings } = await world.caretaker.engine.preview(deletion({ join: { live }, where }));
  expect(warnings).toEqual([
    'It is not known whether the account has each tag that select.where refers to, because t.name.lowerAscii() cannot be looked up.',
  ]);
});

const open = (policy: string) =>
  world.caretaker.records.openFindings.some({ account: 'default', policy }, [
    `policy ${policy}\ntag "99999" (select.filters.tags)`,
    `policy ${policy}\nlist listSites`,
  ]);

test('for harmless work it is an open finding until it is corrected', async () => {
  const wrong = look({ filters: { tags: { in: [keep, '99999'] } } });
  const run = await runOf(wrong);
  const message = 'The account has no tag with the id "99999" (select.filters.tags).';
  expect([run.status, run.detail]).toEqual(['succeeded', message]);
  // The site that is selected, and the tag: `notify.on: [findings]` reports both.
  expect(run.findings).toMatchObject({ new: 2 });
  expect(await open('look')).toMatchObject([{ severity: 'warning', message, target: 'policy look' }]);

  await runOf(look({ filters: { tags: { in: [keep] } } }));
  expect(await open('look')).toEqual([]);
});

test('for a condition in the options of a job it is an open finding too', async () => {
  const thresholds = [{ where: 'site.tags.exists(t, t.name == "kepp")', max_age: '3d' }];
  const options = updateCheck.options.parse({ thresholds });
  const policy = aPolicy({ name: 'watch', job: 'update-check', options });
  const run = await runOf(policy);
  const about = 'tag "kepp" (with.thresholds[0].where)';
  expect(run.remarks).toMatchObject([{ is: 'reference', about }]);
  expect(
    await world.caretaker.records.openFindings.some({ account: 'default', policy: 'watch' }, [
      `policy watch\n${about}`,
    ]),
  ).toHaveLength(1);
});

describe('a list of which fewer items arrive than it counts', () => {
  const said = 'listSites is incomplete: 100 of the 105 items that the service counts arrived.';
  const unstable = async <T>(work: () => Promise<T>): Promise<T> => {
    world.sandbox.outage.begin('unstable-order');
    try {
      return await work();
    } finally {
      world.sandbox.outage.end();
    }
  };

  test('makes a run partial, and is an open finding', async () => {
    const { limit: _, ...all } = look({}, 'look-at-all').select;
    const policy = { ...look({}, 'look-at-all'), select: all };
    const [run, preview] = await unstable(async () => [
      await runOf(policy),
      await world.caretaker.engine.preview(policy),
    ]);
    expect([run.status, run.detail]).toEqual(['partial', said]);
    expect(run.counts).toMatchObject({ planned: 100, succeeded: 100 });
    expect(preview.warnings).toEqual([said]);
    expect(await open('look-at-all')).toMatchObject([{ severity: 'error', message: said }]);

    expect((await runOf(policy)).status).toBe('succeeded');
    expect(await open('look-at-all')).toEqual([]);
  });

  test.each<[string, () => Policy]>([
    ['a joined list', () => deletion({ join: { live } })],
    ['a list that the job reads', () => cleanup({ unless_tagged: [keep] })],
  ])('stops work that deletes before its first effect: %s', async (_, policy) => {
    const once = { ...policy(), retry: { ...policy().retry, attempts: 1 } };
    const run = await unstable(() => runOf(once));
    expect(run.status).toBe('failed');
    expect(run.detail).toContain('the list is incomplete: 100 of the 105 items that it counts arrived');
    expect(run.remarks).toMatchObject([{ is: 'list', message: said }]);
    expect(effects()).toEqual([]);
  });

  test('is read to its end when only the number of its pages is wrong', async () => {
    world.sandbox.outage.begin('too-few-pages');
    const { limit: _, ...all } = look({}).select;
    const preview = await world.caretaker.engine.preview({ ...look({}), select: all });
    world.sandbox.outage.end();
    expect(preview.targets.length + preview.ended.length).toBe(105);
    expect(preview.warnings).toEqual([]);
  });
});
