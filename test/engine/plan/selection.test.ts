/**
 * A selection that finds nothing, or names something that does not exist, is reported by the plan and by the
 * run.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Select } from '../../../src/policy/policy.ts';
import { toReport } from '../../../src/run/report.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { tagged } from '../person.ts';

let world: World;
let tag: string;

beforeAll(async () => {
  world = await startWorld({ before: quickSyncs, sites: 6 });
  tag = await tagged(world, 'Premium', world.sandbox.siteIds().slice(0, 2));
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

test('a run over an empty list reports that the list is empty', async () => {
  const empty = await worldOfTest({ before: quickSyncs, sites: 0 });
  const run = await empty.ended(await empty.fire(aPolicy()));
  expect([run.status, run.detail]).toEqual([
    'succeeded',
    'No candidates: listSites is empty. Nothing was done: no target was selected.',
  ]);
});

type Said = Omit<Awaited<ReturnType<typeof said>>, 'status'>;
const noCandidates = 'No candidates: listSites has no item that matches select.filters.';

test.each<[string, () => Partial<Select>, Said]>([
  [
    'without any candidate says why it did nothing',
    () => ({ filters: { url: { contains: 'no-such-site' } } }),
    { planned: 0, says: [noCandidates] },
  ],
  [
    'whose candidates are all excluded by the condition says nothing of it',
    () => ({ where: 'site.url == "x"' }),
    { planned: 0, says: [] },
  ],
  [
    'by a tag that the account does not have names it, even if other tags of the filter select sites',
    () => ({ filters: { tags: { in: [tag, '99999'] } } }),
    { planned: 2, says: ['The account has no tag with the id "99999" (select.filters.tags).'] },
  ],
  [
    'with such a tag in a condition names it, because the condition may be meant to protect sites',
    () => ({ where: '!site.tags.exists(tag, tag.name == "Premum")' }),
    {
      planned: 6,
      says: ['The account has no tag called "Premum" (select.where). Did you mean "Premium"?'],
    },
  ],
  [
    'with the id of such a tag in a condition names it',
    () => ({ where: '!site.tags.exists(tag, tag.id in ["99999", ""])' }),
    { planned: 6, says: ['The account has no tag with the id "99999" (select.where).'] },
  ],
  [
    'by a client that the account does not have names it',
    () => ({ filters: { client_id: { eq: 'client-99999' } } }),
    {
      planned: 0,
      says: [
        noCandidates,
        'The account has no client with the id "client-99999" (select.filters.client_id).',
      ],
    },
  ],
])('a run with a selection %s, and ends as succeeded', async (_, select, expected) => {
  const { filters = {}, ...others } = select();
  expect(await said(filters, others)).toEqual({ status: 'succeeded', ...expected });
});

test('that the account has a tag is known without a request when the candidates have every tag of the filter', async () => {
  const before = world.sandbox.journal.countOf('listTags');
  expect((await said({ tags: { in: [tag] } })).says).toEqual([]);
  const where = 'site.tags.exists(tag, tag.name == "Premium")';
  expect((await said({}, { where })).says).toEqual([]);
  expect(world.sandbox.journal.countOf('listTags')).toBe(before);
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

test('a limit counts targets only, not candidates that need no action or are excluded before, and the plan says that', async () => {
  const fresh = await worldOfTest({ before: quickSyncs, sites: 4, work: false });
  const [away = '', paused = '', ...others] = fresh.sandbox.siteIds();
  fresh.sandbox.site(away).isCalled({ url: 'https://a.example' });
  fresh.sandbox.site(away).disconnect();
  fresh.sandbox.site(paused).isCalled({ url: 'https://aa.example' });
  fresh.sandbox.site(paused).pause(true);
  const preview = (limit: number) =>
    fresh.caretaker.engine.preview(aPolicy({ select: { filters: {}, sort: 'url,asc', limit } }));

  const { targets, ended, warnings } = await preview(2);
  expect(targets.map(({ id }) => id).toSorted()).toEqual(others);
  expect(ended.map(({ id }) => id).toSorted()).toEqual([away, paused].toSorted());
  expect(warnings).toEqual([
    'select.limit: the run works on 2 targets. It also records 2 that came before the last of them and need no request; these do not count. Candidates after them are not looked at.',
  ]);
  expect((await preview(100)).warnings).toEqual([]);
});

test('a retry works on the failed targets even if the filters and the condition no longer select them', async () => {
  const fresh = await worldOfTest({ before: quickSyncs, sites: 2 });
  const [id = ''] = fresh.sandbox.siteIds();
  const site = fresh.sandbox.site(id);
  site.isCalled({ url: 'https://before.example' });
  site.failNextSync('The disk is full.');
  const where = 'site.sync.last_sync_at < now - duration("1h")';
  const select = { filters: { url: { contains: 'before.example' } }, where };
  const failed = await fresh.ended(await fresh.fire(aPolicy({ select })));

  site.isCalled({ url: 'https://after.example' });
  const retried = await fresh.ended(await fresh.caretaker.engine.retry(failed.id));
  expect([await fresh.reasons(failed), await fresh.reasons(retried)]).toEqual([
    { [id]: 'task-failed' },
    { [id]: 'done' },
  ]);
});

test('a named target does not bypass the id filter of the policy', async () => {
  const [first = '', second = ''] = world.sandbox.siteIds();
  const policy = aPolicy({ select: { filters: { id: { eq: first } } } });
  const preview = await world.caretaker.engine.preview(policy, [second]);
  expect(preview.targets).toEqual([]);
  expect(preview.unselected).toEqual([second]);
});
