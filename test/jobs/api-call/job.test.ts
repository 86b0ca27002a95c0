/** api-call: which calls it rejects when the policy is loaded, and the outcomes of its calls. */
import { describe, expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { ConflictError, GoneError, RejectedError, UnavailableError } from '../../../src/client/errors.ts';
import type { Select } from '../../../src/policy/policy.ts';
import { around } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import type { World } from '../../support/caretaker.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { asPerson } from '../acting.ts';
import { mistakesOf } from '../policies.ts';
import { callOf } from './policies.ts';

let world: World;
const call = asPerson(() => world);

describe('when its policy is loaded, a call is checked against the contract and', () => {
  test.each([
    ['listSites', '{ operation: enableSiteActivityLogs }'],
    ['listSites', '{ operation: assignTag, params: { tag_id: 12 }, body: { site_ids: [{ cel: site.id }] } }'],
    ['listStagingSites', '{ operation: syncSite, params: { site_id: { cel: staging.site_id } } }'],
    ['listStagingSites', '{ operation: deleteStagingSite, confirm: deleteStagingSite }'],
    [
      'listClients',
      '{ operation: deleteClients, body: { ids: [{ cel: client.id }] }, confirm: deleteClients }',
    ],
    [
      'listSites',
      '{ operation: createSiteNote, body: { note: { content: { cel: \'"at " + site.url\' } } } }',
    ],
    [
      'listSites',
      '{ operation: createSiteCustomWorks, body: { custom_works: [{ title: Care, performed_on: { cel: now } }] } }',
    ],
  ])('accepted for %s: %s', (from, call) => {
    expect(mistakesOf(apiCall, `{ from: ${from} }`, call)).toEqual([]);
  });

  test.each([
    [
      'listSite',
      '{ operation: syncSite }',
      [expect.stringMatching(/^-1:10 "from" must be .*did you mean listSites\?$/)],
    ],
    [
      'listSites',
      '{ operation: createSiteNote, body: { note: { content: 12 } } }',
      ['0:54 "content" is not a string. put it into quotes'],
    ],
    [
      'listSites',
      '{ operation: enableSiteActivityLog }',
      ['0:13 There is no operation "enableSiteActivityLog". did you mean enableSiteActivityLogs?'],
    ],
    [
      'listSites',
      '{ operation: listTags }',
      [
        '0:13 listTags only lists items, but api-call needs an operation that makes a change. send it manually: caretaker api listTags',
      ],
    ],
    [
      'listReports',
      '{ operation: downloadReport }',
      [
        '0:13 downloadReport only streams a PDF, but api-call needs an operation that makes a change. send it manually: caretaker api downloadReport',
      ],
    ],
    [
      'listSites',
      '{ operation: showSite }',
      [
        '0:13 showSite only reads, but api-call needs an operation that makes a change. send it manually: caretaker api showSite',
      ],
    ],
    [
      'listStagingSites',
      '{ operation: deleteStagingSite }',
      [
        '0:13 deleteStagingSite is destructive: The copy and everything that was changed in it are lost. if this is intended, add confirm: deleteStagingSite',
      ],
    ],
    [
      'listStagingSites',
      '{ operation: resumeStagingSite, confirm: deleteStagingSite }',
      ['0:41 "confirm" is "deleteStagingSite", but the operation is resumeStagingSite.'],
    ],
    [
      'listStagingSites',
      '{ operation: enableSiteActivityLogs }',
      [
        '0:0 "site_id" is missing. add it to params, as a string or from the target: site_id: { cel: staging.site_id }',
      ],
    ],
    [
      'listSites',
      '{ operation: createTag, body: { tag: { name: x } } }',
      [
        '0:13 The call would be the same for every target, because it uses no value from the target. use a value such as { cel: site.id }, or select { from: account } to make it once in each run',
      ],
    ],
    [
      'listSites',
      '{ operation: createSiteNote, params: { site_idd: x }, body: { note: { content: { cel: site.ur } } } }',
      [
        '0:39 "site_idd" is not taken here. did you mean site_id?',
        '0:91 site has no field "ur". did you mean url?',
      ],
    ],
    [
      'listSites',
      '{ operation: createSiteNote, body: { note: { content: { cel: size(site.tags) } } } }',
      ['0:61 "content" must be a string, but the expression gives a number. write string(size(site.tags))'],
    ],
    [
      'listSites',
      '{ operation: createSiteNote, body: { note: { content: { cel: site.client } } } }',
      [
        '0:61 The expression must give a string, a number, true or false, a time or a list of these, but it is object.',
      ],
    ],
    [
      'listSites',
      '{ operation: createSiteNote, body: { note: { content: { cel: site.url, or: x } } } }',
      ['0:56 A value from the target must be a map with the single key "cel" and an expression.'],
    ],
    [
      'listSites',
      '{ operation: updateSite, body: { site: { connection: { http_auth: { username: a, password: b } } } } }',
      [
        '0:55 "http_auth" is a credential, and each run stores a copy of its policy. send it manually with caretaker api',
      ],
    ],
  ])('rejected for %s: %s', (from, call, faults) => {
    expect(mistakesOf(apiCall, `{ from: ${from} }`, call)).toEqual(faults);
  });
});

/** Runs a policy that makes a call for the items of a list. */
async function runCall(
  now: World,
  from: NonNullable<Select['from']>,
  options: object,
  select: Partial<Select> = {},
  targetMs = 1_200_000,
) {
  const run = await now.ended(
    await now.fire(
      aPolicy({
        job: 'api-call',
        select: { from, filters: {}, ...select },
        options: apiCall.options.parse(options),
        retry: { attempts: 2, backoff: 'fixed', delayMs: 5_000, maxDelayMs: 5_000 },
        timeout: { targetMs, runMs: 28_800_000 },
        schedule: {
          cron: ['0 2 * * *'],
          timezone: 'Pacific/Kiritimati',
          jitterMs: 0,
          overlap: 'skip',
          catchupMs: 0,
          blackout: [],
        },
      }),
    ),
  );
  return { run, targets: await now.targets(run), effects: now.sandbox.journal.effects };
}

const backedUp = { where: 'site.backups.latest_snapshot.id != ""', limit: 2 };
const download = {
  operation: 'startSiteBackupDownload',
  params: { snapshot_id: { cel: 'site.backups.latest_snapshot.id' } },
  body: { download: { scope: { include_files: true, include_database: false } } },
};
const assignment = (tag_id: string) => ({
  operation: 'assignTag',
  params: { tag_id },
  body: { site_ids: [{ cel: 'site.id' }] },
});

describe('a call', () => {
  test('that starts a task is made once for each target that has the values it needs, and followed to its end', async () => {
    world = await worldOfTest({ sites: 20 });
    const bare = await call('createSite', { body: { site: { url: 'https://new.example' } } });

    const { targets, effects } = await runCall(world, 'listSites', download, {
      limit: 3,
      sort: 'created_at,desc',
    });

    expect(targets.find(({ id }) => id === bare.site.id)).toMatchObject({
      outcome: 'skipped',
      reason: 'not-eligible',
      detail: 'site.backups.latest_snapshot.id is empty.',
    });
    const done = targets.filter(({ reason }) => reason === 'done');
    expect(done).toHaveLength(3);
    expect(done.every(({ taskId }) => taskId !== undefined)).toBe(true);
    expect(effects.filter(({ operation }) => operation === download.operation)).toHaveLength(3);
  });

  test('for several items at once fails for a target whose item was refused', async () => {
    world = await worldOfTest({ sites: 2 });
    for (let nth = 0; nth < 10; nth += 1) {
      const { tag } = await call('createTag', { body: { tag: { name: `n${nth}` } } });
      await call('assignTag', { tag_id: tag.id, body: { site_ids: ['site-0001'] } });
    }
    const { tag } = await call('createTag', { body: { tag: { name: 'one more' } } });

    const { targets } = await runCall(world, 'listSites', assignment(tag.id));

    expect(Object.fromEntries(targets.map(({ id, reason }) => [id, reason]))).toEqual({
      'site-0001': 'rejected',
      'site-0002': 'done',
    });
    expect(targets.find(({ id }) => id === 'site-0001')?.detail).toBe('The site has 10 tags already.');
  });

  test('that is refused with a message that the policy accepts is skipped, and the run succeeds', async () => {
    world = await worldOfTest({ sites: 60 });
    const policy = callOf(
      { from: 'listSites', filters: { backups: { eq: false } } },
      { operation: 'enableSiteBackups' },
      { accept_rejections: ['has no backups'] },
    );

    const run = await world.ended(await world.fire(policy));
    const targets = await world.targets(run.id);

    expect(run.status).toBe('succeeded');
    const refused = targets.filter(({ outcome }) => outcome === 'skipped');
    expect(refused.map(({ reason, detail }) => [reason, detail])).toEqual([
      ['rejected', "The site's plan has no backups."],
    ]);
    expect(targets.length).toBeGreaterThan(1);
  });

  test('with a success status is done, even if the rest of its answer cannot be read', async () => {
    world = await worldOfTest({ sites: 2, rateLimit: 1_000_000 });
    for (const fault of ['garbage', 'truncate'] as const)
      world.sandbox.failNext({ operation: 'enableSiteActivityLogs' }, fault);

    const { targets } = await runCall(world, 'listSites', { operation: 'enableSiteActivityLogs' });

    expect(targets.map(({ reason, attempts }) => [reason, attempts])).toEqual(Array(2).fill(['done', 0]));
    expect(world.sandbox.journal.countOf('enableSiteActivityLogs')).toBe(2);

    // One for several items is looked for, as it may have refused the item.
    const { tag } = await call('createTag', { body: { tag: { name: 'care' } } });
    world.sandbox.failNext({ operation: 'assignTag' }, 'garbage');

    const assigned = await runCall(world, 'listSites', assignment(tag.id), { limit: 1 });

    expect(assigned.targets.map(({ reason, attempts }) => [reason, attempts])).toEqual([['done', 1]]);
    expect(world.sandbox.journal.countOf('assignTag')).toBe(1);
  });

  test('that names something else that does not exist fails with the message of the service', async () => {
    world = await worldOfTest({ sites: 2 });
    const missing = await call('showTag', { tag_id: '4711' }).catch((error: unknown) => error);

    const { run, targets } = await runCall(world, 'listSites', assignment('4711'));

    expect(missing).toBeInstanceOf(GoneError);
    const { message } = (missing as GoneError).problem;
    expect(message).toMatch(/tag/i);
    expect(run.status).toBe('failed');
    expect(targets.map(({ outcome, reason, detail }) => [outcome, reason, detail])).toEqual(
      targets.map(() => ['failed', 'rejected', message]),
    );
  });

  test('gets the day of a time in the time zone of the policy', async () => {
    world = await worldOfTest({ sites: 1 });
    const work = { title: 'Care', performed_on: { cel: 'now - duration("24h")' } };

    await runCall(world, 'listSites', { operation: 'createSiteCustomWorks', body: { custom_works: [work] } });

    const works = await call('listSiteCustomWorks', { site_id: 'site-0001' });
    const day = new Date(world.clock.now() + (14 - 24) * 3_600_000).toISOString().slice(0, 10);
    expect(works.custom_works.find(({ title }) => title === 'Care')?.performed_on).toBe(day);
  });

  test('for a sync is followed, adopts a running sync, and is skipped at the daily limit or under maintenance', async () => {
    world = await worldOfTest({ sites: 4 });
    const { sandbox } = world;
    for (const id of sandbox.siteIds()) sandbox.site(id).syncTakes(60_000);
    // Long enough that it still runs when the call is made, however slow the machine.
    sandbox.site('site-0001').syncTakes(300_000);
    sandbox.site('site-0001').startSync();
    sandbox.site('site-0002').useUpDailySyncs();
    sandbox.site('site-0003').underMaintenance(true);

    const { targets, effects } = await runCall(world, 'listSites', { operation: 'syncSite' });

    expect(Object.fromEntries(targets.map(({ id, reason }) => [id, reason]))).toEqual({
      'site-0001': 'adopted',
      'site-0002': 'daily-limit',
      'site-0003': 'maintenance',
      'site-0004': 'done',
    });
    expect(effects.map(({ resource }) => resource)).toEqual(['site-0004']);
  });
});

describe('a target whose call', () => {
  test('started a task that fails is failed, with the message of the service, if it shows one', async () => {
    world = await worldOfTest({ sites: 12, faults: { 'failing-tasks': 1 } });
    const { targets } = await runCall(world, 'listSites', download, backedUp);
    const detail = expect.stringMatching(/^At the step \w+: The step \w+ failed\.$/);
    expect(targets).toMatchObject(Array(2).fill({ outcome: 'failed', reason: 'task-failed', detail }));

    world.sandbox.failNext({ operation: 'showTask', times: 1_000 }, 'status-503');
    const silent = await runCall(world, 'listSites', download, { ...backedUp, limit: 1 });
    expect(silent.targets).toMatchObject([{ outcome: 'failed', reason: 'task-failed' }]);
    expect(silent.targets[0]?.detail).toBeUndefined();
  });

  /** Runs a call that fails in one way on each of the first sites. */
  async function enableLogs(errors: readonly Error[], changes: (now: World) => void = () => undefined) {
    world = await worldOfTest({ sites: errors.length + 2 });
    const { client } = world.caretaker.link('default');
    const failing = new Map(world.sandbox.siteIds().map((id, at) => [id, errors[at]]));
    changes(world);
    around(client, 'call', (send, operation, input) => {
      const error = 'site_id' in input ? failing.get(String(input.site_id)) : undefined;
      return error && operation === 'enableSiteActivityLogs' ? Promise.reject(error) : send();
    });
    const enable = { operation: 'enableSiteActivityLogs' };
    const { targets } = await runCall(world, 'listSites', enable, {}, 90_000);
    return targets.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(({ reason, outcome }) => [reason, outcome]);
  }
  const unavailable = new UnavailableError('enableSiteActivityLogs', true, 'HTTP 503');

  test('the service does not carry out ends as gone, conflict, rejected or unavailable', async () => {
    const errors = [
      new GoneError('enableSiteActivityLogs'),
      new ConflictError('enableSiteActivityLogs', { message: 'A change is under way.' }),
      new RejectedError('enableSiteActivityLogs', 422, { message: 'Not now.' }),
      unavailable,
    ];
    expect(await enableLogs(errors)).toEqual([
      ['gone', 'skipped'],
      ['conflict', 'failed'],
      ['rejected', 'failed'],
      ['unavailable', 'failed'],
      ['done', 'succeeded'],
      ['done', 'succeeded'],
    ]);
  });

  test('meets an outage that does not end ends at timeout.target, and not earlier', async () => {
    const outcomes = await enableLogs([unavailable], ({ caretaker }) =>
      around(caretaker.link('default').client, 'answers', async () => false),
    );
    expect(outcomes).toEqual([
      ['timeout', 'failed'],
      ['done', 'succeeded'],
      ['done', 'succeeded'],
    ]);
  });
});
