/** Parts of a condition that are sent to the list as filters: what is selected stays the same. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { operationOf } from '../../../src/contract/operations.ts';
import { type Preview, previewPlan } from '../../../src/engine/plan/preview.ts';
import { type CandidateList, candidateLists, type Identified, idOf } from '../../../src/job/candidates.ts';
import { defineJob } from '../../../src/job/job.ts';
import { createRegistry } from '../../../src/job/registry.ts';
import { itemFields } from '../../../src/offline/item-fields.ts';
import type { Policy, Select } from '../../../src/policy/policy.ts';
import { partsOf } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';
import { sampleOf } from '../../support/sample.ts';
import { call } from '../person.ts';

const CONDITIONS = Number(process.env['CARETAKER_TEST_CONDITIONS'] ?? sampleOf(10, 100));

let world: World;
beforeAll(async () => {
  // Each timestamp is written in one of four formats, some of them up to a second too early.
  // The clock nearly stands still, so that two plans of one condition compare ages with the same time.
  world = await startWorld({
    before: quickSyncs,
    sites: 90,
    work: false,
    speedUp: 0.001,
    faults: { 'other-timestamps': 1 },
  });
});
afterAll(() => world.stop());

const checking = (from: CandidateList, where: string, select: Partial<Select> = {}): Policy =>
  aPolicy({ job: 'probe', select: { from, filters: {}, where, ...select } });
/** A job on any list that works on each candidate. */
const probe = defineJob({
  name: 'probe',
  summary: 'Does nothing to an item.',
  options: z.unknown(),
  candidates: 'any',
  target: (item: Identified) => ({ id: idOf(item), label: idOf(item) }),
  requestsPerTarget: 1,
  changes: () => [],
  act: async () => ({ is: 'done', reason: 'done' }),
  reconcile: async () => ({ is: 'absent' }),
});
const depsOf = (listsAll = false) => ({
  ...partsOf(world.caretaker),
  registry: createRegistry([probe]),
  listsAll,
});
const preview = (policy: Policy, listsAll: boolean): Promise<Preview> =>
  previewPlan(depsOf(listsAll), policy);
const found = ({ targets }: Preview): string[] => targets.map(({ id }) => id).toSorted();
const sent = ({ filters }: Preview) => filters.map(({ field, operator, value }) => [field, operator, value]);
const sentFor = async (where: string, select?: Partial<Select>) =>
  sent(await preview(checking('listSites', where, select), false));

describe('a part of a condition is sent as a filter', () => {
  const day = 'timestamp("2026-10-01T00:00:00Z")';
  test.each([
    ['site.connection.status == "connected"', [['connection_status', 'eq', 'connected']]],
    ['"connected" == site.connection.status', [['connection_status', 'eq', 'connected']]],
    ['site.connection.status in ["connected"]', [['connection_status', 'eq', 'connected']]],
    ['site.sync.paused', [['paused', 'eq', true]]],
    [
      '!site.locked && site.backups.enabled == false',
      [
        ['locked', 'eq', false],
        ['backups', 'eq', false],
      ],
    ],
    ['site.client.id == "client-1"', [['client_id', 'eq', 'client-1']]],
    ['site.tags.exists(tag, tag.id == "12")', [['tags', 'in', ['12']]]],
    [`site.created_at > ${day}`, [['created_at', 'gte', '2026-09-30T23:59:00Z']]],
    [`${day} >= site.created_at`, [['created_at', 'lte', '2026-10-01T00:01:00Z']]],
    [`site.sync.last_sync_at >= ${day}`, [['last_sync_at', 'gte', '2026-09-30T23:59:00Z']]],
  ])('%s', async (where, filters) => {
    expect(await sentFor(where)).toEqual(filters);
  });

  test('also if it compares an age with a duration, by the clock of the service', async () => {
    const [[field, operator, value] = []] = await sentFor('now - site.created_at > duration("72h")');
    expect([field, operator]).toEqual(['created_at', 'lte']);
    const expected = world.clock.now() - 72 * 3_600_000;
    expect(Math.abs(Date.parse(String(value)) - expected)).toBeLessThan(10 * 60_000);
  });

  test('and every part of a conjunction is, while the rest is evaluated here', async () => {
    expect(
      await sentFor(
        'site.connection.status == "connected" && (site.locked || site.multisite) && site.url.contains("a")',
      ),
    ).toEqual([['connection_status', 'eq', 'connected']]);
  });
});

describe('a part of a condition is not sent', () => {
  test.each([
    ['if it is one of several alternatives', 'site.locked || site.sync.paused'],
    ['if it excludes a value', 'site.connection.status != "disconnected"'],
    ['if it holds for a value that is null: a site without a client', 'site.client.id == ""'],
    ['if it holds for a time that is null: a site that was never synced', 'site.sync.last_sync_at < now'],
    ['if the list compares versions in another way', 'site.server.php_version == "8.1"'],
    ['if upper and lower case or a part of a text may decide', 'site.url.contains("shop")'],
    ['if it compares two fields', 'site.created_at < site.updated_at'],
  ])('%s', async (_, where) => {
    expect(await sentFor(where)).toEqual([]);
  });

  test('if the policy has a filter of that field, or a time zone for times', async () => {
    const disconnected = { connection_status: { eq: 'disconnected' } };
    expect(await sentFor('site.connection.status == "connected"', { filters: disconnected })).toEqual([
      ['connection_status', 'eq', 'disconnected'],
    ]);
    const where = 'site.created_at > timestamp("2026-10-01T00:00:00Z")';
    expect(await sentFor(where, { timezone: 'Europe/Berlin' })).toEqual([]);
  });

  test('for a check, which takes what it does not select for resolved', async () => {
    const select = { filters: {}, from: 'listSites', where: 'site.sync.paused' } as const;
    const options = { severity: 'warning', message: 'Paused.' };
    const policy = aPolicy({ job: 'check', select, options });
    expect((await previewPlan(partsOf(world.caretaker), policy)).filters).toEqual([]);
  });

  test('for a run of requested targets, which are reported with the reason why they are excluded', async () => {
    const policy = checking('listSites', 'site.connection.status == "disconnected"');
    const [id = ''] = world.sandbox.siteIds();
    const { ended, filters } = await previewPlan(depsOf(), policy, [id]);
    expect(filters).toEqual([]);
    const why = 'It is in the account; select.where does not hold: site.connection.status == "disconnected"';
    expect(ended).toMatchObject([{ id, why }]);
  });
});

test('a condition that excludes everything on the server is not taken for an empty list', async () => {
  const where = 'site.id == "no-such-site"';
  expect(await sentFor(where)).toEqual([['id', 'eq', 'no-such-site']]);
  expect((await preview(checking('listSites', where), false)).warnings).toEqual([
    'The account has no site with the id "no-such-site" (select.where).',
  ]);
});

test('every filter that the contract says compares a field reads that field', () => {
  for (const list of Object.keys(candidateLists) as CandidateList[]) {
    for (const [name, { shows }] of Object.entries(operationOf(list).list?.filters ?? {})) {
      if (shows === undefined) continue;
      const value = name.endsWith('_at') || name.endsWith('_on') ? '2026-11-21T02:00:00Z' : 'x';
      const [last = '', ...holders] = shows.split('.').reverse();
      const leaf: unknown = { [last]: value };
      const isList = shows === 'tags.id';
      const item = holders.reduce<unknown>((inner, key) => ({ [key]: isList ? [inner] : inner }), leaf);
      const read = Reflect.get(itemFields[list], name) as (item: unknown, account: object) => unknown;
      const expected = value === 'x' ? (isList ? ['x'] : 'x') : Date.parse(value);
      expect([list, name, read(item, { siteIds: [] })]).toEqual([list, name, expected]);
    }
  }
});

/** The same sequence for the same seed. */
function chance(seed: number) {
  let state = seed;
  return {
    next() {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state / 2_147_483_648;
    },
    pick<T>(all: readonly T[]): T {
      return all[Math.floor(this.next() * all.length)] as T;
    },
  };
}

const times = ['created_at', 'updated_at'];
/** Fields of each list, by the kind of comparison; some of them no filter compares. */
const fieldsOf: Partial<Record<CandidateList, { flags: string[]; texts: string[]; times: string[] }>> = {
  listSites: {
    flags: [
      'locked',
      'sync.paused',
      'backups.enabled',
      'security.enabled',
      'performance.enabled',
      'multisite',
    ],
    texts: ['connection.status', 'security.scanner.status', 'client.id', 'server.php_version', 'id'],
    times: [...times, 'sync.last_sync_at', 'sync.next_sync_at'],
  },
  listStagingSites: {
    flags: [],
    texts: ['status', 'site_id', 'php_version'],
    times: [...times, 'expires_at'],
  },
  listReports: {
    flags: ['email.attach_pdf'],
    texts: ['type', 'site.id', 'client.id'],
    times: ['created_at'],
  },
  listTasks: { flags: [], texts: ['status', 'type'], times },
  listTeamMembers: {
    flags: ['two_fa_enabled', 'all_sites_access'],
    texts: ['role', 'status', 'name'],
    times,
  },
  listAutoUpdateSchedules: {
    flags: ['options.backup', 'options.visual_regression'],
    texts: ['status', 'schedule', 'name'],
    times: [...times, 'started_at', 'next_update_at'],
  },
  listSenderEmails: { flags: ['domain.dkim.verified'], texts: ['status', 'email'], times },
};
/** Fields that the list, or both views, do not show in some of the rounds. */
const hidden: ['listSites' | 'showSite' | 'listStagingSites', string][][] = [
  [],
  [
    ['listSites', 'connection'],
    ['listStagingSites', 'status'],
  ],
  [
    ['listSites', 'sync.paused'],
    ['showSite', 'sync.paused'],
    ['listSites', 'client'],
    ['listSites', 'created_at'],
  ],
  [
    ['listSites', 'tags'],
    ['showSite', 'tags'],
    ['listSites', 'security.scanner.status'],
    ['listSites', 'locked'],
  ],
];

async function itemsOf(list: CandidateList): Promise<object[]> {
  const answer = await call(world, list, {} as never);
  return Reflect.get(answer, operationOf(list).list?.key ?? '') as object[];
}
const valueAt = (item: object, path: string): unknown =>
  path.split('.').reduce<unknown>((at, key) => (at == null ? at : Reflect.get(at as object, key)), item);

test(`with and without filters for it, ${CONDITIONS} generated conditions select the same`, async () => {
  const random = chance(20_261_122);
  const counts = { pushed: 0, selecting: 0 };
  const items = new Map<CandidateList, object[]>();
  for (const list of Object.keys(fieldsOf) as CandidateList[]) items.set(list, await itemsOf(list));
  for (let round = 0; round < CONDITIONS; round += 1) {
    const list = random.next() < 0.5 ? 'listSites' : random.pick([...items.keys()]);
    const subject = candidateLists[list];
    const { flags, texts, times: moments } = fieldsOf[list] ?? { flags: [], texts: [], times: [] };
    const seen = items.get(list) ?? [];
    const term = (): string => {
      const kind = random.pick([...(flags.length > 0 ? ['flag'] : []), 'text', 'time', 'age', 'tag']);
      const item = random.pick(seen);
      if (kind === 'flag') {
        const flag = `${subject}.${random.pick(flags)}`;
        return random.pick([flag, `!${flag}`, `${flag} == false`, `true == ${flag}`]);
      }
      if (kind === 'tag' && list === 'listSites')
        return `site.tags.exists(t, t.id == "${random.pick(['1', '2', '3', '4'])}")`;
      if (kind === 'text' || kind === 'tag') {
        const path = random.pick(texts);
        const value = JSON.stringify(String(valueAt(item, path) ?? ''));
        const other = JSON.stringify(String(valueAt(random.pick(seen), path) ?? ''));
        const field = `${subject}.${path}`;
        return random.pick([
          `${field} == ${value}`,
          `${value} == ${field}`,
          `${field} in [${value}, ${other}]`,
          `${field} != ${value}`,
        ]);
      }
      const path = random.pick(moments);
      const field = `${subject}.${path}`;
      const order = random.pick(['<', '<=', '>', '>=']);
      // Not within the second by which one answer may differ from the next.
      const aside = random.pick([-2_000, 2_000, 3_600_000]);
      const at = Date.parse(String(valueAt(item, path) ?? '2026-11-01T00:00:00Z')) + aside;
      if (kind === 'age') {
        const seconds = Math.round((world.clock.now() - at) / 1000);
        return random.pick([
          `now - ${field} ${order} duration("${seconds}s")`,
          `${field} ${order} now - duration("${seconds}s")`,
        ]);
      }
      return `${field} ${order} timestamp("${new Date(at).toISOString()}")`;
    };
    const part = () => (random.next() < 0.2 ? `(${term()} || ${term()})` : term());
    const where = Array.from({ length: 1 + Math.floor(random.next() * 3) }, part).join(' && ');
    const shown = random.pick(hidden).map(([operation, field]) => world.sandbox.hide(operation, field));
    const [all, pushed] = [
      await preview(checking(list, where), true),
      await preview(checking(list, where), false),
    ];
    for (const show of shown) show();
    expect(found(pushed), `${where}; sent: ${JSON.stringify(sent(pushed))}`).toEqual(found(all));
    if (pushed.filters.length > 0) counts.pushed += 1;
    if (found(all).length > 0) counts.selecting += 1;
  }
  // The conditions are of all kinds, so that the comparison means something.
  expect(counts.pushed).toBeGreaterThan(CONDITIONS / 3);
  expect(counts.selecting).toBeGreaterThan(CONDITIONS / 4);
}, 240_000);

test('the list is asked with the filters', async () => {
  const policy = checking('listSites', 'site.connection.status == "disconnected"');
  const asked = () => world.sandbox.journal.requests.filter(({ operation }) => operation === 'listSites');
  await preview(policy, true);
  expect(asked().at(-1)?.query).not.toContain('connection_status');
  await preview(policy, false);
  expect(asked().at(-1)?.query).toContain('filters%5Bconnection_status%3Aeq%5D=disconnected');
});
