/**
 * A selection that finds nothing, or names something that does not exist, is reported by the plan and by the
 * run.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Select } from '../../../src/policy/policy.ts';
import { toReport } from '../../../src/run/report.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';

let world: World;
let tag: { id: string; name: string };

beforeAll(async () => {
  world = await startWorld({ before: quickSyncs, sites: 6 });
  const { client } = world.caretaker.link('default');
  const { tag: made } = await client.call(
    'createTag',
    { body: { tag: { name: 'Premium', color: '#123456' } } },
    { requestClass: 'person' },
  );
  tag = { id: made.id, name: 'Premium' };
  const site_ids = world.sandbox.siteIds().slice(0, 2);
  await client.call('assignTag', { tag_id: tag.id, body: { site_ids } }, { requestClass: 'person' });
});
afterAll(() => world.stop());

const numbers = Array.from({ length: 99 }, (_, index) => index);
/** The messages of the plan and the run of one selection; both must be the same. */
async function said(filters: Select['filters'], select: Partial<Select> = {}) {
  const policy = aPolicy({ name: `p-${numbers.shift()}`, select: { filters, ...select } });
  const preview = await world.caretaker.engine.preview(policy);
  const run = await world.ended(await world.fire(policy));
  const report = toReport(run, await world.targets(run));
  const nothing = run.counts.planned === 0 ? ['Nothing was done: no target was selected.'] : [];
  expect(report.detail ?? '').toBe([...preview.warnings, ...nothing].join(' '));
  return { status: run.status, planned: run.counts.planned, says: preview.warnings };
}

test('a run without any candidate ends as succeeded, with the reason why it did nothing', async () => {
  expect(await said({ url: { contains: 'no-such-site' } })).toEqual({
    status: 'succeeded',
    planned: 0,
    says: ['No candidates: listSites has no item that matches select.filters.'],
  });
});

test('a run over an empty list reports that the list is empty', async () => {
  const empty = await startWorld({ before: quickSyncs, sites: 0 });
  try {
    const run = await empty.ended(await empty.fire(aPolicy()));
    expect([run.status, run.detail]).toEqual([
      'succeeded',
      'No candidates: listSites is empty. Nothing was done: no target was selected.',
    ]);
  } finally {
    await empty.stop();
  }
});

describe('a tag that the account does not have', () => {
  test('is named even if other tags of the filter select sites', async () => {
    const found = await said({ tags: { in: [tag.id, '99999'] } });
    expect(found).toMatchObject({
      planned: 2,
      says: ['The account has no tag with the id "99999" (select.filters.tags).'],
    });
  });

  test('is named when a condition uses it, because the condition may be meant to protect sites', async () => {
    const found = await said({}, { where: '!site.tags.exists(tag, tag.name == "Premum")' });
    expect(found).toMatchObject({
      planned: 6,
      says: ['The account has no tag called "Premum" (select.where). Did you mean "Premium"?'],
    });
    const byId = await said({}, { where: '!site.tags.exists(tag, tag.id in ["99999", ""])' });
    expect(byId.says).toEqual(['The account has no tag with the id "99999" (select.where).']);
  });

  test('is detected without a request when the candidates have every tag of the filter', async () => {
    const before = world.sandbox.journal.countOf('listTags');
    expect((await said({ tags: { in: [tag.id] } })).says).toEqual([]);
    const where = 'site.tags.exists(tag, tag.name == "Premium")';
    expect((await said({}, { where })).says).toEqual([]);
    expect(world.sandbox.journal.countOf('listTags')).toBe(before);
  });
});

test('a client that the account does not have is named', async () => {
  expect((await said({ client_id: { eq: 'client-99999' } })).says).toEqual([
    'No candidates: listSites has no item that matches select.filters.',
    'The account has no client with the id "client-99999" (select.filters.client_id).',
  ]);
});

test('a selection whose candidates are all excluded by the condition causes no warning', async () => {
  expect(await said({}, { where: 'site.url == "x"' })).toEqual({ status: 'succeeded', planned: 0, says: [] });
});

test('the targets that the condition excludes are stored with the run', async () => {
  const [first = ''] = world.sandbox.siteIds();
  const where = `site.id != "${first}"`;
  const run = await world.ended(await world.fire(aPolicy({ select: { filters: {}, where } })));
  expect(await world.caretaker.records.targets.excluded(run.id, 0, 10)).toMatchObject([
    { id: first, why: 'select.where does not hold' },
  ]);
});

test('a run for named targets works on these only, with one request each to find them', async () => {
  const [, , chosen = '', other = ''] = world.sandbox.siteIds();
  const { journal } = world.sandbox;
  const looks = () => journal.requests.filter(({ query }) => query.includes('id%3Aeq')).length;
  const before = looks();
  const run = await world.ended(await world.fire(aPolicy(), [chosen, other]));
  expect(await world.reasons(run)).toEqual({ [chosen]: 'done', [other]: 'done' });
  expect(looks() - before).toBe(2);
  expect((await world.caretaker.engine.preview(aPolicy(), [chosen])).targets).toMatchObject([{ id: chosen }]);
});

test('a limit counts targets only, not candidates that need no action or are excluded before', async () => {
  const fresh = await startWorld({ before: quickSyncs, sites: 4 });
  const [away = '', paused = '', ...others] = fresh.sandbox.siteIds();
  fresh.sandbox.site(away).isCalled({ url: 'https://a.example' });
  fresh.sandbox.site(away).disconnect();
  fresh.sandbox.site(paused).isCalled({ url: 'https://aa.example' });
  fresh.sandbox.site(paused).pause(true);
  const { targets } = await fresh.caretaker.engine.preview(
    aPolicy({ select: { filters: {}, sort: 'url,asc', limit: 2 } }),
  );
  await fresh.stop();
  expect(targets.map(({ id }) => id).sort()).toEqual(others);
});

test('a retry works on the failed targets even if the filters and the condition no longer select them', async () => {
  const fresh = await startWorld({ before: quickSyncs, sites: 2 });
  const [id = ''] = fresh.sandbox.siteIds();
  const site = fresh.sandbox.site(id);
  site.isCalled({ url: 'https://before.example' });
  site.failNextSync('The disk is full.');
  const where = 'site.sync.last_sync_at < now - duration("1h")';
  const select = { filters: { url: { contains: 'before.example' } }, where };
  const failed = await fresh.ended(await fresh.fire(aPolicy({ select })));

  site.isCalled({ url: 'https://after.example' });
  const retried = await fresh.ended(await fresh.caretaker.engine.retry(failed.id));
  const reasons = [await fresh.reasons(failed), await fresh.reasons(retried)];
  await fresh.stop();
  expect(reasons).toEqual([{ [id]: 'task-failed' }, { [id]: 'done' }]);
});

test('a named target does not bypass the id filter of the policy', async () => {
  const [first = '', second = ''] = world.sandbox.siteIds();
  const policy = aPolicy({ select: { filters: { id: { eq: first } } } });
  const preview = await world.caretaker.engine.preview(policy, [second]);
  expect(preview.targets).toEqual([]);
  expect(preview.unselected).toEqual([second]);
});
