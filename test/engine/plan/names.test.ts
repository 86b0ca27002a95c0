/** Names in place of ids: they are looked up when a run is planned, and the run keeps the ids that it found. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RejectedError } from '../../../src/client/errors.ts';
import { planRun } from '../../../src/engine/plan/planner.ts';
import type { Policy, Select } from '../../../src/policy/policy.ts';
import { toReport } from '../../../src/run/report.ts';
import { around, partsOf } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { call, tagged } from '../person.ts';

let world: World;
let premium: string;

beforeAll(async () => {
  world = await startWorld({ before: quickSyncs, sites: 6 });
  premium = await tagged(world, 'Premium', world.sandbox.siteIds().slice(0, 2));
});
afterAll(() => world.stop());

const selecting = (filters: Select['filters'], changes: Partial<Policy> = {}) =>
  aPolicy({ select: { filters }, ...changes });
const byName = (name: string) => selecting({ tags: { in: [{ name }] } });
const lists = (operation: 'listTags' | 'listClients' = 'listTags') =>
  world.sandbox.journal.countOf(operation);
const ended = async (policy: Policy) => world.ended(await world.fire(policy));

describe('the name of a tag in a filter', () => {
  test('selects the sites that have the tag, and plan and run show its id', async () => {
    const before = lists();
    const preview = await world.caretaker.engine.preview(byName('Premium'));
    const run = await ended(byName('Premium'));

    expect(preview.targets.map(({ id }) => id).toSorted()).toEqual(world.sandbox.siteIds().slice(0, 2));
    expect(preview.names).toEqual([{ at: 'select.filters.tags', kind: 'tag', name: 'Premium', id: premium }]);
    expect(run.counts.planned).toBe(2);
    expect(toReport(run, []).names).toEqual([{ kind: 'tag', name: 'Premium', id: premium }]);
    expect(lists() - before).toBe(2);
  });

  test('that the account does not have fails the plan with a suggestion, and changes nothing', async () => {
    const message = 'The account has no tag called "Premum" (select.filters.tags). Did you mean "Premium"?';
    const before = world.sandbox.journal.effectsOf('syncSite').length;
    await expect(world.caretaker.engine.preview(byName('Premum'))).rejects.toThrow(message);
    expect(await ended(byName('Premum'))).toMatchObject({
      status: 'failed',
      detail: `Planning failed: ${message}`,
    });
    expect(world.sandbox.journal.effectsOf('syncSite')).toHaveLength(before);
  });
});

test('a name that several clients have fails the plan with their ids, unless only one has it exactly', async () => {
  const client = async (company_name: string) =>
    (await call(world, 'createClient', { body: { client: { company_name } } })).client.id;
  const [one, other] = [await client('Twice'), await client('Twice')];
  const lower = await client('twice');
  const preview = (name: string) =>
    world.caretaker.engine.preview(selecting({ client_id: { eq: { name } } }));

  await expect(preview('Twice')).rejects.toThrow(
    `Several clients are called "Twice" (select.filters.client_id): "${other}", "${one}". Use the id of one of them.`,
  );
  expect((await preview('twice')).names).toMatchObject([{ id: lower }]);
  expect((await ended(selecting({ client_id: { eq: { name: 'TWICE' } } }))).detail).toContain(
    'Several clients',
  );
});

test('a policy without names lists neither tags nor clients', async () => {
  const before = [lists(), lists('listClients')];
  await ended(selecting({ tags: { in: [premium] } }));
  expect([lists(), lists('listClients')]).toEqual(before);
});

test('several names of one kind, in upper and lower case, cost one list', async () => {
  const before = [lists(), lists('listClients')];
  const { clients } = await call(world, 'listClients', {});
  const client = clients.find(({ company_name }) => company_name);
  const { names } = await world.caretaker.engine.preview(
    selecting({
      tags: { in: [{ name: 'Premium' }, { name: 'PREMIUM' }] },
      client_id: { eq: { name: client?.company_name ?? '' } },
    }),
  );
  expect(names.map(({ at, kind, id }) => [at, kind, id])).toEqual([
    ['select.filters.tags', 'tag', premium],
    ['select.filters.tags', 'tag', premium],
    ['select.filters.client_id', 'client', client?.id],
  ]);
  expect([lists(), lists('listClients')]).toEqual([(before[0] ?? 0) + 1, (before[1] ?? 0) + 2]);
});

describe('the ids that a run found', () => {
  test('are used when its plan starts over, although another tag has the name now', async () => {
    const now = await worldOfTest({ before: quickSyncs, sites: 4, work: false });
    const [first = '', second = ''] = now.sandbox.siteIds();
    const meant = await tagged(now, 'Premium', [first]);
    const run = await now.fire(byName('Premium'));
    const parts = partsOf(now.caretaker);
    const planned = () => planRun(parts, { kind: 'plan', run: run.id }, new AbortController().signal);
    // The first plan dies when it has looked the name up and lists the sites.
    let isDead = false;
    around(now.caretaker.link('default').client, 'call', (send, operation) =>
      operation === 'listSites' && !isDead ? Promise.reject(new Error('killed')) : send(),
    );
    await planned();
    isDead = true;
    await call(now, 'updateTag', { tag_id: meant, body: { tag: { name: 'Old' } } });
    await tagged(now, 'Premium', [second]);
    const before = now.sandbox.journal.countOf('listTags');

    await planned();

    expect((await now.targets(run)).map(({ id }) => id)).toEqual([first]);
    expect(now.sandbox.journal.countOf('listTags')).toBe(before);
  });

  test('are used by each target and by a retry', async () => {
    const [first = ''] = world.sandbox.siteIds();
    const label = await tagged(world, 'Label', []);
    const policy = aPolicy({
      job: 'api-call',
      select: { from: 'listSites', filters: { id: { eq: first } } },
      options: {
        operation: 'assignTag',
        params: { tag_id: { name: 'Label' } },
        body: { site_ids: [{ cel: 'site.id' }] },
      },
      retry: { attempts: 1, backoff: 'fixed', delayMs: 1_000, maxDelayMs: 1_000 },
    });
    let refused = 0;
    around(world.caretaker.link('default').client, 'call', (send, operation) => {
      if (operation !== 'assignTag' || refused > 0) return send();
      refused += 1;
      return Promise.reject(new RejectedError(operation, 422, { message: 'not now' }));
    });
    const run = await ended(policy);
    expect(run.names).toEqual([
      { path: ['options', 'params', 'tag_id'], kind: 'tag', name: 'Label', id: label },
    ]);
    expect(run.status).toBe('failed');
    await call(world, 'updateTag', { tag_id: label, body: { tag: { name: 'Renamed' } } });

    const retried = await world.ended(
      await world.caretaker.engine.retry(run.id, { which: { reasons: ['all'] } }),
    );

    expect(retried.status).toBe('succeeded');
    const { tag } = await call(world, 'showTag', { tag_id: label });
    expect(tag.site_ids).toEqual([first]);
  });
});
