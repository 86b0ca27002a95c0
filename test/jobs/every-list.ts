/**
 * Every list that a policy can name in `select.from`, with operations on one of its items: loaded from a file, planned
 * and executed with the sandbox.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiCall } from '../../jobs/api-call/job.ts';
import { pathParameters } from '../../src/contract/operation.ts';
import { type Input, type OperationId, operationOf, operations } from '../../src/contract/operations.ts';
import {
  type CandidateList,
  candidateLists,
  idWithin,
  ownParameter,
  parentListOf,
} from '../../src/job/candidates.ts';
import { createRegistry } from '../../src/job/registry.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { folderWith } from '../settings/folder.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import { type Account, inputs } from '../support/operation-inputs.ts';

const lists = Object.keys(candidateLists) as CandidateList[];
const changing = (Object.keys(operations) as OperationId[]).filter(
  (id) => operationOf(id).effect !== undefined,
);

/** Operations that take the item in their body: how, and where its id is in the input. */
const byBody: Partial<Record<OperationId, { from: CandidateList; body: object; id(body: never): string }>> = {
  deleteClients: {
    from: 'listClients',
    body: { ids: [{ cel: 'client.id' }] },
    id: (body: { ids: string[] }) => body.ids[0] ?? '',
  },
  deleteReportTemplates: {
    from: 'listReportTemplates',
    body: { ids: [{ cel: 'template.id' }] },
    id: (body: { ids: string[] }) => body.ids[0] ?? '',
  },
  createReport: {
    from: 'listSites',
    body: { report: { site_id: { cel: 'site.id' } } },
    id: (body: { report: { site_id: string } }) => body.report.site_id,
  },
  createScheduledReport: {
    from: 'listSites',
    body: { scheduled_report: { site_id: { cel: 'site.id' } } },
    id: (body: { scheduled_report: { site_id: string } }) => body.scheduled_report.site_id,
  },
  createStagingSite: {
    from: 'listSites',
    body: { staging_site: { site_id: { cel: 'site.id' } } },
    id: (body: { staging_site: { site_id: string } }) => body.staging_site.site_id,
  },
};

/** Operations on the whole account, or that create something new: none of them is about an item of a list. */
const ofTheAccount: OperationId[] = [
  'createClient',
  'createSenderEmail',
  'updatePluginBranding',
  'resetPluginBranding',
  'updateWpLogin',
  'resetWpLogin',
  'createAutoUpdateSchedule',
  'createReportTemplate',
  'createTeamMember',
  'createTag',
  'createSite',
];

/** The part of a policy for one call, and the item that it is for. */
function callFor(from: CandidateList, id: OperationId, input: Record<string, unknown>) {
  const { body, ...params } = input;
  const inBody = byBody[id];
  const parent = parentListOf(from);
  const filledIn = [...(parent ? [ownParameter(parent)] : []), ownParameter(from)];
  const ids = filledIn.map((name) => String(params[name ?? '']));
  const others = Object.fromEntries(Object.entries(params).filter(([name]) => !filledIn.includes(name)));
  return {
    item: inBody
      ? inBody.id(body as never)
      : ids.length === 2
        ? idWithin(ids[0] ?? '', ids[1] ?? '')
        : ids[0],
    call: {
      operation: id,
      confirm: id,
      ...(Object.keys(others).length > 0 ? { params: others } : {}),
      ...(body === undefined ? {} : { body: inBody ? merged(body, inBody.body) : body }),
    },
  };
}

/** An object with the values of the other in their places. */
function merged(into: unknown, values: unknown): unknown {
  const isMap = (one: unknown): one is object =>
    typeof one === 'object' && one !== null && !Array.isArray(one) && !('cel' in one);
  if (!isMap(into) || !isMap(values)) return values;
  const keys = Object.entries(values).map(([key, value]) => [key, merged(Reflect.get(into, key), value)]);
  return { ...into, ...Object.fromEntries(keys) };
}

/** Calls over lists whose items no operation is about. */
const noteAbout: Partial<Record<CandidateList, object>> = {
  listAutoUpdateHistory: {
    operation: 'createTag',
    body: { tag: { name: { cel: 'auto_update.status' }, color: '#ff0000' } },
  },
  listSiteActivityLogs: {
    operation: 'createSiteNote',
    body: { note: { content: { cel: 'activity.event_type' } } },
  },
};

/** By default the list has the last seven days, which go on. */
const fixed: Partial<Record<CandidateList, object>> = {
  listSiteSnapshots: {
    filters: { created_at: { gte: '2026-11-01T00:00:00Z', lte: '2026-11-20T00:00:00Z' } },
  },
};

interface Page {
  [key: string]: unknown;
  meta?: { pagination?: { totalItems?: number } };
}

const fits = (from: CandidateList, id: OperationId): boolean => {
  const own = ownParameter(from);
  const inPath = own !== undefined && pathParameters(operationOf(id).path).includes(own);
  return inPath || byBody[id]?.from === from;
};

function policyOver(from: CandidateList, call: object, more: object = {}): Policy {
  const parent = parentListOf(from);
  const select = { from, ...(parent ? { for_each: parent } : {}), ...more };
  const policy = { name: 'p', job: 'api-call', select, with: call };
  const dir = folderWith({ 'p.yaml': JSON.stringify({ policies: [policy] }) });
  const { policies, findings } = loadPolicies({ dir, registry: createRegistry([apiCall]) });
  expect(findings.map(({ message }) => message)).toEqual([]);
  return policies[0] as Policy;
}

/** Names and addresses that an account has once only, so that each test can create its own. */
const unique: Partial<Record<OperationId, [string, string]>> = {
  createTag: ['tag', 'name'],
  createSite: ['site', 'url'],
  createTeamMember: ['team_member', 'email'],
  createSenderEmail: ['sender_email', 'email'],
};
interface Bodied {
  body: Record<string, Record<string, string>>;
}
let created = 0;
function named<Id extends OperationId>(id: Id, input: Input<Id>): Input<Id> {
  const [key, field] = unique[id] ?? [];
  if (key === undefined || field === undefined) return input;
  created += 1;
  const { body } = structuredClone(input) as unknown as Bodied;
  const value = body[key]?.[field]?.replace(/^(https:..)?/, `$1n${created}-`) ?? '';
  const named: Bodied = { body: { [key]: { ...body[key], [field]: value } } };
  return named as unknown as Input<Id>;
}

export function accountOf({ caretaker, clock, sandbox }: World): Account {
  const { client } = caretaker.link('default');
  return {
    sandbox,
    call: (id, input) => client.call(id, named(id, input), { requestClass: 'person' }),
    pass: async (ms) => clock.leap(ms),
  };
}

/** The operations that no policy over a list can name. */
export const withoutList = () =>
  changing.filter((id) => !ofTheAccount.includes(id) && !lists.some((from) => fits(from, id)));

/**
 * The tests of every list, with some of the operations on its items. One world is for all of them: each finds or creates
 * an item of its own.
 */
export function describeEveryList(pick: (fitting: OperationId[]) => OperationId[]): void {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ sites: 24 });
  });
  afterAll(() => world.stop());

  describe.each(lists)('over %s', (from) => {
    /** How many items the account has, or all sites but those whose list cannot be read. */
    async function totalOf(count: (within: object) => Promise<number>, unread: { id: string }[]) {
      if (!parentListOf(from)) return count({});
      const { sites } = await accountOf(world).call('listSites', {});
      const read = sites.filter((site) => !unread.some(({ id }) => id === site.id));
      const counts = await Promise.all(read.map(({ id }) => count({ site_id: id, ...fixed[from] })));
      return counts.reduce((sum, one) => sum + one, 0);
    }

    /** A backup destination can be requested by its provider; as a target it is identified by its own id. */
    async function targetIdOf(policy: Policy, item: string): Promise<string> {
      if (from !== 'listBackupDestinations') return item;
      const { targets } = await world.caretaker.engine.preview(policy);
      const { backup_destinations } = await accountOf(world).call('listBackupDestinations', {});
      const saved = backup_destinations.find(({ provider }) => provider === item);
      return targets.find(({ id }) => id === saved?.id)?.id ?? item;
    }

    test('a policy is planned: each item of the list is a candidate', async () => {
      const id = changing.find((one) => fits(from, one));
      const input = id && ((await inputs[id](accountOf(world))) as Record<string, unknown>);
      const { call } = id ? callFor(from, id, input ?? {}) : { call: noteAbout[from] };
      const policy = policyOver(from, call ?? {}, fixed[from]);

      const preview = await world.caretaker.engine.preview(policy);

      const { key = '' } = operationOf(from).list ?? {};
      const count = async (within: object) => {
        const answer = await accountOf(world).call(from, within as Input<typeof from>);
        const { [key]: items, meta } = answer as unknown as Page;
        return meta?.pagination?.totalItems ?? (items as unknown[]).length;
      };
      const isUnread = ({ id: one }: { id: string }) =>
        parentListOf(from) !== undefined && !one.includes('/');
      const seen = [...preview.targets, ...preview.ended, ...preview.excluded].filter(
        (one) => !isUnread(one),
      );
      expect(seen).toHaveLength(await totalOf(count, preview.ended.filter(isUnread)));
      expect(seen.length).toBeGreaterThan(0);
    });

    test.each(pick(changing.filter((id) => fits(from, id))))('%s is sent for one item', async (id) => {
      const account = accountOf(world);
      const { item, call } = callFor(from, id, (await inputs[id](account)) as Record<string, unknown>);
      const accepted = () =>
        world.sandbox.journal.requests.filter(({ operation, status }) => operation === id && status < 400)
          .length;
      const before = accepted();

      const policy = policyOver(from, call);
      const run = await world.ended(await world.fire(policy, [await targetIdOf(policy, item ?? '')]));

      const targets = await world.targets(run);
      expect(targets.map(({ outcome, reason, detail }) => ({ outcome, reason, detail }))).toMatchObject([
        { outcome: 'succeeded', reason: 'done' },
      ]);
      expect(run.status).toBe('succeeded');
      // The change before it may be in progress: then the first request is refused.
      expect(accepted()).toBe(before + 1);
    });
  });
}
