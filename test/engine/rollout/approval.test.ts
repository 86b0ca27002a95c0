/** Runs that wait for the approval of a person, whole: real Redis, the sandbox, workers and a supervisor. */
import { expect, onTestFinished, test } from 'vitest';
import { localPrincipal, type Principal } from '../../../src/access/principal.ts';
import { carryOut } from '../../../src/control/carry-out.ts';
import { formatChange, listApprovals } from '../../../src/control/commands/approve-run.ts';
import { lastApproval } from '../../../src/run/rollout.ts';
import type { Run } from '../../../src/run/run.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type WorldOptions } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';

const anna: Principal = { kind: 'user', name: 'anna', grants: [{ role: 'approver' }] };
const ben: Principal = { kind: 'user', name: 'ben', grants: [{ role: 'operator' }] };
const always = { when: 'always', expiresMs: 24 * 3_600_000 } as const;

async function world(options: WorldOptions = {}) {
  const started = await startWorld({ before: quickSyncs, sites: 5, speedUp: 240, ...options });
  onTestFinished(() => started.stop());
  return started;
}
const waits = ({ status }: Run) => status === 'awaiting-approval';
const syncsIn = ({ sandbox }: Awaited<ReturnType<typeof world>>) => sandbox.journal.effectsOf('syncSite');

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

test('nobody approves and the run expires: it is cancelled, nothing was sent, and this is told once', async () => {
  const w = await world();
  const run = await w.ended(await w.fire(aPolicy({ approval: { ...always, expiresMs: 600_000 } })), waits);
  w.clock.leap(600_000);

  const end = await w.ended(run);

  expect(end.status).toBe('cancelled');
  expect(end.detail).toMatch(/^It was not approved before .+ \(approval\.expires\)\.$/);
  expect(Object.values(await w.reasons(end))).toEqual(new Array(5).fill('not-approved'));
  expect(syncsIn(w)).toEqual([]);
  await expect(w.caretaker.engine.approve(run.id, { by: anna })).rejects.toThrow(/expired by caretaker/);
});

test('a rejected run is cancelled with who rejected it and why', async () => {
  const w = await world();
  const run = await w.ended(await w.fire(aPolicy({ approval: always })), waits);

  await w.caretaker.engine.reject(run.id, { by: anna, reason: 'not before Christmas' });

  expect(await w.ended(run)).toMatchObject({
    status: 'cancelled',
    detail: 'anna rejected it: not before Christmas',
  });
  expect(syncsIn(w)).toEqual([]);
});

test('single targets are rejected, and the rest waits on and is done', async () => {
  const w = await world();
  const run = await w.ended(await w.fire(aPolicy({ approval: always })), waits);
  const [first, second] = (await w.targets(run)).map(({ id }) => id);

  await w.caretaker.engine.reject(run.id, { by: anna, targets: [first ?? ''] });
  expect((await w.caretaker.records.runs.get(run.id))?.status).toBe('awaiting-approval');
  await w.caretaker.engine.reject(run.id, { by: anna, targets: [second ?? ''] });
  await w.caretaker.engine.approve(run.id, { by: anna });

  const end = await w.ended(run);
  expect(end).toMatchObject({ status: 'succeeded', counts: { succeeded: 3, cancelled: 2 } });
  expect(lastApproval(end)?.rejected).toHaveLength(2);
  expect(syncsIn(w)).not.toContain(first);
});

test('when only some targets are approved, the others are not done', async () => {
  const w = await world();
  const run = await w.ended(await w.fire(aPolicy({ approval: always })), waits);
  const [first = ''] = (await w.targets(run)).map(({ id }) => id);
  await expect(w.caretaker.engine.approve(run.id, { by: anna, targets: ['site-9999'] })).rejects.toThrow(
    /site-9999: no such target waits/,
  );

  await w.caretaker.engine.approve(run.id, { by: anna, targets: [first] });

  expect(await w.ended(run)).toMatchObject({ counts: { succeeded: 1, cancelled: 4 } });
  expect(syncsIn(w)).toEqual([first]);
});

test('when every target was rejected one by one, the run is cancelled', async () => {
  const w = await world();
  const run = await w.ended(await w.fire(aPolicy({ approval: always })), waits);
  const targets = (await w.targets(run)).map(({ id }) => id);

  await w.caretaker.engine.reject(run.id, { by: anna, targets });

  expect((await w.ended(run)).status).toBe('cancelled');
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
  const over = (targets: number) =>
    aPolicy({ name: `over-${targets}`, approval: { ...always, when: { overTargets: targets } } });
  expect((await w.ended(await w.fire(over(5)))).status).toBe('succeeded');
  expect(lastApproval(await w.ended(await w.fire(over(4)), waits))?.why).toBe(
    'It has 5 targets, more than 4.',
  );

  const harmless = aPolicy({ name: 'harmless', approval: { ...always, when: 'destructive' } });
  expect((await w.ended(await w.fire(harmless))).status).toBe('succeeded');
  const tidying = aPolicy({
    name: 'tidying',
    job: 'api-call',
    select: { from: 'listSites', filters: {} },
    options: { operation: 'disableSiteActivityLogs', confirm: 'disableSiteActivityLogs' },
    approval: { ...always, when: 'destructive' },
  });
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

test('the time limit of a run begins again when it is approved', async () => {
  const w = await world();
  const timeout = { targetMs: 3_600_000, runMs: 3_600_000 };
  const run = await w.ended(await w.fire(aPolicy({ approval: always, timeout })), waits);
  w.clock.leap(5 * 3_600_000);

  await w.caretaker.engine.approve(run.id, { by: anna });

  expect((await w.ended(run)).status).toBe('succeeded');
});

test('a site that changed while the run waited is not touched, and the rest is done', async () => {
  const w = await world();
  const select = { filters: {}, where: 'site.locked == false' };
  const run = await w.ended(await w.fire(aPolicy({ approval: always, select })), waits);
  const [first = ''] = (await w.targets(run)).map(({ id }) => id);
  w.sandbox.site(first).lock(true);

  await w.caretaker.engine.approve(run.id, { by: anna });

  const end = await w.ended(run);
  expect((await w.reasons(end))[first]).toBe('changed-since-plan');
  expect(syncsIn(w)).not.toContain(first);
  expect(syncsIn(w)).toHaveLength(end.counts.planned - 1);
});
