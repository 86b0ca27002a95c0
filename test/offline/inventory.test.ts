/** An account is saved, and policies are planned over the file as over the account itself. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadJobs } from '../../src/app/load-jobs.ts';
import type { Client } from '../../src/client/client.ts';
import { isoTime } from '../../src/clock.ts';
import { pathParameters } from '../../src/contract/operation.ts';
import { type ListId, operationOf } from '../../src/contract/operations.ts';
import type { Preview } from '../../src/engine/plan/preview.ts';
import type { Registry } from '../../src/job/registry.ts';
import { readInventory, writeInventory } from '../../src/offline/inventory/file.ts';
import {
  type Inventory,
  listIds,
  planOverInventory,
  readsOf,
} from '../../src/offline/inventory/inventory.ts';
import { recorder, type Saved, saveInventory } from '../../src/offline/inventory/save.ts';
import { itemFields } from '../../src/offline/item-fields.ts';
import { offlineClient } from '../../src/offline/offline-client.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import { memoryFolder } from '../support/in-memory.ts';
import { otherLists } from './other-lists.ts';

const SITES = 24;
const budget = { requestsPerMinute: 1_000_000, reserve: 0.1 };

let world: World;
let registry: Registry;
let client: Client;
let policies: Policy[];
let folder: string;
/** Of the whole account. */
let whole: Saved;
beforeAll(async () => {
  // Time stands still, so that ages are the same in both plans.
  world = await startWorld({ sites: SITES, speedUp: 1e-7, work: false, serviceAheadMs: 5_000, budget });
  registry = await loadJobs();
  client = world.caretaker.link('default').client;
  folder = mkdtempSync(join(memoryFolder(), 'caretaker-inventory-'));
  const file = join(folder, 'other-lists.yaml');
  writeFileSync(file, otherLists);
  const loaded = loadPolicies({ dir: '.', files: ['config/policies', file], registry });
  expect(loaded.findings).toEqual([]);
  policies = loaded.policies;
  const [site_id = ''] = world.sandbox.siteIds();
  const body = { note: { content: 'outdated' } };
  await client.call('createSiteNote', { site_id, body }, { requestClass: 'person' });
  whole = await save(policies, true);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await world.stop();
});

const save = (saved: readonly Policy[], allLists: boolean) =>
  saveInventory({
    account: { name: 'default', baseUrl: 'https://ann:pass-word@service.example/api/v6' },
    client,
    clock: world.clock,
    registry,
    policies: saved,
    allLists,
    onRead: () => undefined,
  });
const called = (name: string) => policies.filter((policy) => policy.name === name);

/** The parts of the whole inventory that are reads of these operations. */
const holding = (isHeld: (operation: string) => boolean): Inventory => ({
  ...whole.inventory,
  entries: whole.inventory.entries.filter(({ operation }) => isHeld(operation)),
});

const planOver = (inventory: Inventory, policy: Policy, now?: number) =>
  planOverInventory(policy, { inventory, name: 'fleet.json', registry, budget, ...(now ? { now } : {}) });

const withoutRequests = ({ id, label, plan }: Preview['targets'][number]) => ({ id, label, plan });

test('each policy has the same plan over a saved inventory as against the service', async () => {
  const file = join(folder, 'fleet.json.gz');
  writeInventory(file, whole.inventory);
  const read = readInventory(file);

  expect(whole.incomplete).toEqual([]);
  expect(policies.length).toBeGreaterThan(7);
  for (const policy of policies) {
    const asked = await world.caretaker.engine.preview(policy);
    // What other clients of the account spend at the moment is no part of an inventory.
    const { othersPerMinute: _, ...cost } = asked.cost;
    const over = await planOver(read, policy);
    // The first requests of more targets are known, because jobs may read the inventory.
    expect({ ...over, targets: over.targets.map(withoutRequests) }).toEqual({
      ...asked,
      targets: asked.targets.map(withoutRequests),
      // Lists of a site that the service refused are counted too.
      cost,
    });
  }
});

test('with the names of policies, only what they read is saved', async () => {
  const { inventory, requests } = await save(called('nightly-sync'), false);

  expect(inventory.entries.map(({ operation }) => operation)).toEqual(['listSites']);
  expect(requests).toBe(1);
});

test('a list that the inventory does not hold is an error with its name, not an empty list', async () => {
  const without = (left: string) => holding((operation) => operation !== left);
  const [reports = aPolicy()] = called('monthly-reports');

  await expect(planOver(without('showReportTemplate'), reports)).rejects.toThrow(
    /^fleet\.json does not hold showReportTemplate \(report_template_id /,
  );
  await expect(planOver(without('listSites'), aPolicy())).rejects.toThrow(
    'fleet.json does not hold listSites. Save it again: "caretaker inventory save --policy nightly-sync"',
  );
});

test('a plan as at a later time counts ages from that time', async () => {
  const { inventory } = whole;
  const stale = aPolicy({ options: { mode: 'stale', max_age: 20 * 3_600_000 } });
  const later = inventory.savedAt + 30 * 86_400_000;

  const [now, then] = [await planOver(inventory, stale), await planOver(inventory, stale, later)];

  expect(now.ended.some(({ reason }) => reason === 'already-done')).toBe(true);
  expect(then.ended.some(({ reason }) => reason === 'already-done')).toBe(false);
  expect(then.targets.length).toBeGreaterThan(now.targets.length);
});

test('the file holds no secret, and only this user can read it', async () => {
  const { inventory } = whole;
  const reads = recorder(client, { requestClass: 'person' }, () => undefined);
  const [copy] = await reads.items('listStagingSites', {});
  const shown = await reads.view('showStagingSite', { staging_site_id: Reflect.get(copy ?? {}, 'id') });
  const file = join(folder, 'secrets.json');

  writeInventory(file, { ...inventory, entries: [...inventory.entries, ...reads.entries()] });

  const { password } = (shown as { staging_site: { credentials: { server: { password: string } } } })
    .staging_site.credentials.server;
  const text = readFileSync(file, 'utf8');
  expect(password).toMatch(/^staging-/);
  expect(text).not.toContain(password);
  expect(text).not.toContain('pass-word');
  expect(text).toContain('"base_url":"https://service.example/api/v6"');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('the file is gzip if its name ends in .gz, else text with one item a line', async () => {
  const inventory = holding((operation) => operation === 'listSites');
  const [plain, packed] = [join(folder, 'a.json'), join(folder, 'a.json.gz')];
  writeInventory(plain, inventory);
  writeInventory(packed, inventory);

  const text = readFileSync(plain, 'utf8');
  expect(gunzipSync(readFileSync(packed)).toString()).toBe(text);
  expect(text.split('\n').filter((line) => line.includes('"home_url"'))).toHaveLength(SITES);
  expect(readInventory(packed)).toEqual(readInventory(plain));
});

test.each([
  { text: 'sites: []', says: 'cannot be read: it is not JSON.' },
  { text: '{"sites":[]}', says: 'is not an inventory: save one with "caretaker inventory save".' },
  { text: '{"caretaker_inventory":2}', says: 'was saved by a newer release of Caretaker (version 2).' },
])('a file with $text is refused with a sentence', ({ text, says }) => {
  const file = join(folder, 'broken.json');
  writeFileSync(file, text);
  expect(() => readInventory(file)).toThrow(says);
});

test('a file that is not there, or cannot be written, is named', () => {
  expect(() => readInventory(join(folder, 'none.json'))).toThrow('cannot be read: it does not exist.');
  expect(() => writeInventory('/nowhere/a.json', whole.inventory)).toThrow(
    '/nowhere/a.json cannot be written: its folder does not exist.',
  );
});

describe('filters, sorts and pages give what the service gives', () => {
  const lists = listIds.filter((id) => pathParameters(operationOf(id).path).length === 0);

  /** Queries with every sort, and every filter with values that some items have. */
  async function queriesOf(id: ListId): Promise<object[]> {
    const { list } = operationOf(id);
    const items = await held().items(id, {});
    if (!list || list.sorts.length === 0) return [{}];
    const sorts = list.sorts.flatMap((field) => [{ sort: `${field},asc` }, { sort: `${field},desc` }]);
    const filters = Object.entries(list.filters).flatMap(([field, { operators, kind }]) => {
      const values = valuesOf(id, field, items, kind === 'timestamp');
      return operators.flatMap((operator) => {
        if (operator === 'present') return [true, false].map((value) => ({ [field]: { present: value } }));
        return values.map((value) => ({ [field]: { [operator]: operator === 'in' ? [value] : value } }));
      });
    });
    return [{}, { page: 2, perPage: 3 }, ...sorts, ...filters.map((one) => ({ filters: one }))];
  }

  const held = () => readsOf(whole.inventory, 'fleet.json', 'nightly-sync');

  function valuesOf(id: ListId, field: string, items: readonly object[], isTime: boolean): unknown[] {
    const read = Reflect.get(itemFields[id], field) as (item: object, account: object) => unknown;
    const all = items.flatMap((item) => read(item, { siteIds: ['site-0001'] }) ?? []);
    const some = [...new Set(all)].filter((value) => value !== '');
    const picked = [some[0], some[Math.floor(some.length / 2)], some.at(-1)];
    return [...new Set(picked)].flatMap((value) =>
      value === undefined ? [] : isTime ? isoTime(Number(value)) : value,
    );
  }

  /** The answer with the items that sort the same by their ids: their order is not specified. */
  function inOrder(
    id: ListId,
    query: { sort?: string },
    answer: unknown,
  ): { keys: unknown[]; answer: object } {
    const { key = '', defaultSort } = operationOf(id).list ?? {};
    const items = Reflect.get(answer as object, key) as object[];
    const [field = ''] = (query.sort ?? defaultSort ?? '').split(',');
    const read = (Reflect.get(itemFields[id], field) ?? (() => '')) as (item: object) => unknown;
    const byText = items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    return { keys: items.map(read), answer: { ...(answer as object), [key]: byText } };
  }

  test.each(lists)('%s', { timeout: 30_000 }, async (id) => {
    const now = world.clock.now();
    const offline = offlineClient({ account: 'default', reads: held(), now, serviceNow: now });
    const options = { requestClass: 'person' } as const;

    for (const query of await queriesOf(id)) {
      const asked = inOrder(id, query, await client.call(id, query as never, options));
      const given = inOrder(id, query, await offline.call(id, query as never, options));
      expect({ query, ...given }).toEqual({ query, ...asked });
    }
  });
});
