/** Names in place of ids: they are looked up when a run is planned, and the run keeps the ids that it found. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RejectedError } from '../../../src/client/errors.ts';
import type { Answer, Input, OperationId } from '../../../src/contract/operations.ts';
import { planRun } from '../../../src/engine/plan/planner.ts';
import type { Policy, Select } from '../../../src/policy/policy.ts';
import { toReport } from '../../../src/run/report.ts';
import { around, partsOf } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';

let world: World;
let premium: string;

beforeAll(async () => {
  world = await startWorld({ before: quickSyncs, sites: 6 });
  premium = await tagged('Premium', world.sandbox.siteIds().slice(0, 2));
});
afterAll(() => world.stop());

const call = <Id extends OperationId>(id: Id, input: Input<Id>): Promise<Answer<Id>> =>
  world.caretaker.link('default').client.call(id, input, { requestClass: 'person' });

/** Creates a tag on these sites. */
async function tagged(name: string, site_ids: string[]): Promise<string> {
  const { tag } = await call('createTag', { body: { tag: { name } } });
  if (site_ids.length > 0) await call('assignTag', { tag_id: tag.id, body: { site_ids } });
  return tag.id;
}

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

  test('is found whether it is written in upper or lower case', async () => {
    const { names } = await world.caretaker.engine.preview(byName('premium'));
    expect(names).toMatchObject([{ name: 'premium', id: premium }]);
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
    (await call('createClient', { body: { client: { company_name } } })).client.id;
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

test('several names of one kind cost one list', async () => {
  const before = [lists(), lists('listClients')];
  const { clients } = await call('listClients', {});
  const company = clients.find(({ company_name }) => company_name)?.company_name ?? '';
  const { names } = await world.caretaker.engine.preview(
    selecting({
      tags: { in: [{ name: 'Premium' }, { name: 'PREMIUM' }] },
      client_id: { eq: { name: company } },
    }),
  );
  expect(names.map(({ at, kind }) => [at, kind])).toEqual([
    ['select.filters.tags', 'tag'],
    ['select.filters.tags', 'tag'],
    ['select.filters.client_id', 'client'],
  ]);
  expect([lists(), lists('listClients')]).toEqual([(before[0] ?? 0) + 1, (before[1] ?? 0) + 2]);
});

describe('the ids that a run found', () => {
  test('are used when its plan starts over, although another tag has the name now', async () => {
    const now = await startWorld({ before: quickSyncs, sites: 4, work: false });
    try {
      const { client } = now.caretaker.link('default');
      const person = { requestClass: 'person' } as const;
      const make = async (name: string, site: string) => {
        const { tag } = await client.call('createTag', { body: { tag: { name } } }, person);
        await client.call('assignTag', { tag_id: tag.id, body: { site_ids: [site] } }, person);
        return tag.id;
      };
      const [first = '', second = ''] = now.sandbox.siteIds();
      const meant = await make('Premium', first);
      const run = await now.fire(byName('Premium'));
      const parts = partsOf(now.caretaker);
      const planned = () => planRun(parts, { kind: 'plan', run: run.id }, new AbortController().signal);
      // The first plan dies when it has looked the name up and lists the sites.
      let isDead = false;
      around(client, 'call', (send, operation) =>
        operation === 'listSites' && !isDead ? Promise.reject(new Error('killed')) : send(),
      );
      await planned();
      isDead = true;
      await client.call('updateTag', { tag_id: meant, body: { tag: { name: 'Old' } } }, person);
      await make('Premium', second);
      const before = now.sandbox.journal.countOf('listTags');

      await planned();

      expect((await now.targets(run)).map(({ id }) => id)).toEqual([first]);
      expect(now.sandbox.journal.countOf('listTags')).toBe(before);
    } finally {
      await now.stop();
    }
  });

  test('are used by each target and by a retry', async () => {
    const [first = ''] = world.sandbox.siteIds();
    const label = await tagged('Label', []);
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
    await call('updateTag', { tag_id: label, body: { tag: { name: 'Renamed' } } });

    const retried = await world.ended(
      await world.caretaker.engine.retry(run.id, { which: { reasons: ['all'] } }),
    );

    expect(retried.status).toBe('succeeded');
    const { tag } = await call('showTag', { tag_id: label });
    expect(tag.site_ids).toEqual([first]);
  });
});
