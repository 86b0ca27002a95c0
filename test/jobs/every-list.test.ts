/**
 * Every list that a policy can name in `select.from`, with every operation on one of its items: loaded from a
 * file, planned and executed with the sandbox.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ownParameter } from '../../jobs/api-call/call-template.ts';
import { apiCall } from '../../jobs/api-call/job.ts';
import { pathParameters } from '../../src/contract/operation.ts';
import { type Input, type OperationId, operationOf, operations } from '../../src/contract/operations.ts';
import { type CandidateList, candidateLists } from '../../src/job/candidates.ts';
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
  const own = ownParameter(from) ?? '';
  const inBody = byBody[id];
  const { [own]: item, ...others } = params;
  return {
    item: inBody ? inBody.id(body as never) : String(item),
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

const fits = (from: CandidateList, id: OperationId): boolean => {
  const own = ownParameter(from);
  const inPath = own !== undefined && pathParameters(operationOf(id).path).includes(own);
  return inPath || byBody[id]?.from === from;
};

function policyOver(from: CandidateList, call: object): Policy {
  const policy = { name: 'p', job: 'api-call', select: { from }, with: call };
  const dir = folderWith({ 'p.yaml': JSON.stringify({ policies: [policy] }) });
  const { policies, findings } = loadPolicies({ dir, registry: createRegistry([apiCall]) });
  expect(findings.map(({ message }) => message)).toEqual([]);
  return policies[0] as Policy;
}

function accountOf({ caretaker, clock, sandbox }: World): Account {
  const { client } = caretaker.link('default');
  return {
    sandbox,
    call: (id, input) => client.call(id, input, { requestClass: 'person' }),
    pass: (ms) => clock.sleep(ms),
  };
}

test('every operation that changes something applies to some list, or to the whole account', () => {
  const missing = changing.filter(
    (id) => !ofTheAccount.includes(id) && !lists.some((from) => fits(from, id)),
  );
  expect(missing).toEqual([]);
});

describe.each(lists)('over %s', (from) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld({ sites: 40, speedUp: 600 });
  });
  afterEach(() => world.stop());

  /** A backup destination can be requested by its provider; as a target it is identified by its own id. */
  async function targetIdOf(policy: Policy, item: string): Promise<string> {
    if (from !== 'listBackupDestinations') return item;
    const { targets } = await world.caretaker.engine.preview(policy);
    const { backup_destinations } = await accountOf(world).call('listBackupDestinations', {});
    const saved = backup_destinations.find(({ provider }) => provider === item);
    return targets.find(({ id }) => id === saved?.id)?.id ?? item;
  }

  test('a policy is planned: each item of the list is a candidate', async () => {
    const id = changing.find((one) => fits(from, one)) ?? 'createSiteNote';
    const { call } = callFor(from, id, (await inputs[id](accountOf(world))) as Record<string, unknown>);
    const policy = policyOver(from, call);

    const preview = await world.caretaker.engine.preview(policy);

    const { key = '' } = operationOf(from).list ?? {};
    const { [key]: items, meta } = (await accountOf(world).call(from, {} as Input<typeof from>)) as Record<
      string,
      unknown
    > & { meta?: { pagination?: { totalItems?: number } } };
    const seen = preview.targets.length + preview.ended.length + preview.excluded.length;
    expect(seen).toBe(meta?.pagination?.totalItems ?? (items as unknown[]).length);
    expect(seen).toBeGreaterThan(0);
  });

  test.each(changing.filter((id) => fits(from, id)))('%s is sent for one item', async (id) => {
    const account = accountOf(world);
    const { item, call } = callFor(from, id, (await inputs[id](account)) as Record<string, unknown>);
    const before = world.sandbox.journal.countOf(id);

    const policy = policyOver(from, call);
    const run = await world.ended(await world.fire(policy, [await targetIdOf(policy, item)]));

    const targets = await world.targets(run);
    expect(targets.map(({ outcome, reason, detail }) => ({ outcome, reason, detail }))).toMatchObject([
      { outcome: 'succeeded', reason: 'done' },
    ]);
    expect(run.status).toBe('succeeded');
    expect(world.sandbox.journal.countOf(id)).toBe(before + 1);
  });
});
