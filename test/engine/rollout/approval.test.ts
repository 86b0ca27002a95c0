/** Runs that wait for the approval of a person, whole: real Redis, the sandbox, workers and a supervisor. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { localPrincipal, type Principal } from '../../../src/access/principal.ts';
import { carryOut } from '../../../src/control/carry-out.ts';
import { formatChange, listApprovals } from '../../../src/control/commands/approve-run.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { lastApproval } from '../../../src/run/rollout.ts';
import type { Run } from '../../../src/run/run.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World, type WorldOptions } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';
import { worldOfTest } from '../../support/world-of-test.ts';

const anna: Principal = { kind: 'user', name: 'anna', grants: [{ role: 'approver' }] };
const ben: Principal = { kind: 'user', name: 'ben', grants: [{ role: 'operator' }] };
const always = { when: 'always', expiresMs: 24 * 3_600_000 } as const;

const world = (options: WorldOptions = {}) =>
  worldOfTest({ before: quickSyncs, sites: 5, speedUp: 240, ...options });
const waits = ({ status }: Run) => status === 'awaiting-approval';
const syncsIn = ({ sandbox }: World) => sandbox.journal.effectsOf('syncSite');

test('a run that needs an approval waits with its plan stored, and sends nothing', async () => {
  const w = await world();
  const run = await w.ended(await w.fire(aPolicy({ approval: always })), waits);

  expect(run).toMatchObject({ planComplete: true, counts: { planned: 5, succeeded: 0 } });
  expect(lastApproval(run)).toMatchObject({
    why: 'Every run of the policy needs an approval.',
    expires: expect.any(Number),
  });
  const spent = run.requests;
  // The workers and the supervisor are at work meanwhile.
  const other = await w.ended(await w.fire(aPolicy({ name: 'other', select: { filters: {}, limit: 1 } })));
  expect(other.status).toBe('succeeded');
  expect(syncsIn(w)).toHaveLength(1);
  expect((await w.caretaker.records.runs.get(run.id))?.requests).toBe(spent);

  await w.caretaker.engine.approve(run.id, { by: anna, reason: 'looks right' });

  const end = await w.ended(run);
  expect(end).toMatchObject({ status: 'succeeded', counts: { succeeded: 5 } });
  expect(lastApproval(end)?.decided).toMatchObject({ is: 'approved', by: 'anna', reason: 'looks right' });
  expect(syncsIn(w)).toHaveLength(6);
});

test('what is new since the last approved run is named, and what is gone is counted', async () => {
  const w = await world();
  const sitesBut = async (gone: string, limit = 10) => {
    const select = { filters: {}, where: `site.id != "${gone}"`, limit };
    const run = await w.ended(await w.fire(aPolicy({ approval: always, select })), waits);
    const by = { principal: anna, from: '192.0.2.1' };
    const [one] = await carryOut(listApprovals, w.caretaker, {}, by);
    return { run, since: one?.since };
  };
  const first = await sitesBut('site-0005', 3);
  expect(first.since).toBeUndefined();
  await w.caretaker.engine.reject(first.run.id, { by: anna });
  // One that was rejected is not compared with.
  const second = await sitesBut('site-0005');
  expect(second.since).toBeUndefined();
  await w.caretaker.engine.approve(second.run.id, { by: anna });
  await w.ended(second.run);

  const { since } = await sitesBut('site-0001');

  expect(since).toMatchObject({ run: second.run.id, added: 1, removed: 1 });
  expect(since && formatChange(since)).toMatch(
    /^Since the last approved run: 1 target that is new: https:.*-5\.example; 1 no longer there\.$/,
  );
});

describe('a run that waits', () => {
  /** Of all tests here; a site takes five syncs a day. */
  let w: World;
  beforeAll(async () => {
    w = await startWorld({ before: quickSyncs, sites: 5, speedUp: 240 });
  });
  afterAll(() => w.stop());

  /** A run that waits for its approval, with the ids of its targets; `synced` are the syncs since then. */
  async function waiting(changes: Partial<Policy> = {}) {
    const run = await w.ended(await w.fire(aPolicy({ approval: always, ...changes })), waits);
    const targets = (await w.targets(run)).map(({ id }) => id);
    const before = syncsIn(w).length;
    return { run, targets, synced: () => syncsIn(w).slice(before) };
  }

  test('and that nobody approves expires: it is cancelled, nothing was sent, and this is told once', async () => {
    const { run, synced } = await waiting({ approval: { ...always, expiresMs: 600_000 } });
    w.clock.leap(600_000);

    const end = await w.ended(run);

    expect(end.status).toBe('cancelled');
    expect(end.detail).toMatch(/^It was not approved before .+ \(approval\.expires\)\.$/);
    expect(Object.values(await w.reasons(end))).toEqual(new Array(5).fill('not-approved'));
    expect(synced()).toEqual([]);
    await expect(w.caretaker.engine.approve(run.id, { by: anna })).rejects.toThrow(/expired by caretaker/);
  });

  test('and is rejected is cancelled with who rejected it and why', async () => {
    const { run, synced } = await waiting();

    await w.caretaker.engine.reject(run.id, { by: anna, reason: 'not before Christmas' });

    expect(await w.ended(run)).toMatchObject({
      status: 'cancelled',
      detail: 'anna rejected it: not before Christmas',
    });
    expect(synced()).toEqual([]);
  });

  test('and of which every target is rejected one by one is cancelled', async () => {
    const { run, targets } = await waiting();
    await w.caretaker.engine.reject(run.id, { by: anna, targets });
    expect((await w.ended(run)).status).toBe('cancelled');
  });

  test('and of which single targets are rejected waits on, and the rest is done', async () => {
    const { run, targets, synced } = await waiting();
    const [first = '', second = '', ...others] = targets;

    await w.caretaker.engine.reject(run.id, { by: anna, targets: [first] });
    expect((await w.caretaker.records.runs.get(run.id))?.status).toBe('awaiting-approval');
    await w.caretaker.engine.reject(run.id, { by: anna, targets: [second] });
    await w.caretaker.engine.approve(run.id, { by: anna });

    const end = await w.ended(run);
    expect(end).toMatchObject({ status: 'succeeded', counts: { succeeded: 3, cancelled: 2 } });
    expect(lastApproval(end)?.rejected).toHaveLength(2);
    expect(synced().toSorted()).toEqual(others.toSorted());
  });

  test('and of which only some targets are approved does not do the others', async () => {
    const { run, targets, synced } = await waiting();
    const [first = ''] = targets;
    await expect(w.caretaker.engine.approve(run.id, { by: anna, targets: ['site-9999'] })).rejects.toThrow(
      /site-9999: no such target waits/,
    );

    await w.caretaker.engine.approve(run.id, { by: anna, targets: [first] });

    expect(await w.ended(run)).toMatchObject({ counts: { succeeded: 1, cancelled: 4 } });
    expect(synced()).toEqual([first]);
  });

  test('does not touch a site that changed while it waited, and the rest is done', async () => {
    const select = { filters: {}, where: 'site.locked == false' };
    const { run, targets, synced } = await waiting({ select });
    const [first = ''] = targets;
    w.sandbox.site(first).lock(true);

    await w.caretaker.engine.approve(run.id, { by: anna });

    const end = await w.ended(run);
    expect((await w.reasons(end))[first]).toBe('changed-since-plan');
    expect(synced()).not.toContain(first);
    expect(synced()).toHaveLength(end.counts.planned - 1);
  });

  test('has its whole time limit again when it is approved', async () => {
    const timeout = { targetMs: 3_600_000, runMs: 3_600_000 };
    const { run } = await waiting({ timeout });
    w.clock.leap(5 * 3_600_000);

    await w.caretaker.engine.approve(run.id, { by: anna });

    expect((await w.ended(run)).status).toBe('succeeded');
  });
});

test('who may decide, and on what: the role, the names of the policy, another person than who started it, this plan', async () => {
  const w = await world();
  const { engine, records } = w.caretaker;
  const policy = aPolicy({ approval: { ...always, by: ['anna', 'admin'], separate: true } });
  const fired = await engine.fire(policy, {
    trigger: 'manual',
    scheduledFor: w.clock.now(),
    startedBy: { kind: 'user', name: 'anna' },
  });
  const run = await w.ended(fired, waits);
  const carl: Principal = { kind: 'user', name: 'carl', grants: [{ role: 'approver' }] };

  await expect(engine.approve(run.id, { by: ben })).rejects.toThrow(/ben does not have the role approver/);
  await expect(engine.approve(run.id, { by: carl })).rejects.toThrow(/Only anna or admin may decide/);
  await expect(engine.approve(run.id, { by: anna })).rejects.toThrow(/anna started the run/);
  const root = localPrincipal('root');
  await expect(engine.approve(run.id, { by: root, hash: 'another' })).rejects.toThrow(/another plan/);
  const hash = lastApproval(run)?.hash ?? '';
  for (const decide of [engine.approve, engine.reject])
    await expect(decide(run.id, { by: root, hash, batch: 1 })).rejects.toThrow('has no batches');
  expect((await records.runs.get(run.id))?.status).toBe('awaiting-approval');

  await engine.approve(run.id, { by: root, hash });
  expect((await w.ended(run)).status).toBe('succeeded');
});

test('an approval is wanted for more targets than the policy says, and for what is destructive', async () => {
  const w = await world();
  const when = (given: NonNullable<Policy['approval']>['when']) =>
    aPolicy({ approval: { ...always, when: given } });
  const wanted = async (policy: Policy) => (await w.caretaker.engine.preview(policy)).approval;

  expect(await wanted(when({ overTargets: 5 }))).toBeUndefined();
  expect(await wanted(when({ overTargets: 4 }))).toMatchObject({ why: 'It has 5 targets, more than 4.' });
  expect(await wanted(when('destructive'))).toBeUndefined();
  const tidying: Policy = {
    ...when('destructive'),
    job: 'api-call',
    select: { from: 'listSites', filters: {} },
    options: { operation: 'disableSiteActivityLogs', confirm: 'disableSiteActivityLogs' },
  };
  const run = await w.ended(await w.fire(tidying), waits);
  expect(lastApproval(run)).toMatchObject({
    why: 'It may call what is destructive: disableSiteActivityLogs, deleteSiteNote.',
    destructive: ['disableSiteActivityLogs', 'deleteSiteNote'],
  });
});

test('of ten people who approve at the same time one does, and no site is done twice', async () => {
  const w = await world({ sites: 8, speedUp: 60 });
  const run = await w.ended(await w.fire(aPolicy({ approval: always })), waits);
  const others = [await w.another(), await w.another()];

  const results = await Promise.allSettled(
    Array.from({ length: 10 }, (_, i) => (others[i % 2] ?? w.caretaker).engine.approve(run.id, { by: anna })),
  );

  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const end = await w.ended(run);
  expect(end.approvals).toHaveLength(1);
  expect(syncsIn(w)).toHaveLength(new Set(syncsIn(w)).size);
  expect(syncsIn(w)).toHaveLength(end.counts.succeeded);
});
