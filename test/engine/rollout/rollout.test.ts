/** Runs in batches, whole: only this shows workers, supervisor and gates together. */
import { expect, test } from 'vitest';
import { localPrincipal } from '../../../src/access/principal.ts';
import type { Policy, RolloutRule } from '../../../src/policy/policy.ts';
import type { Run } from '../../../src/run/run.ts';
import { aPolicy } from '../../support/builders.ts';
import { until, type World, type WorldOptions } from '../../support/caretaker.ts';
import { healthySites } from '../../support/quick-syncs.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { call } from '../person.ts';

/** Batches of two, three and five. */
const SITES = 10;
const anna = localPrincipal('anna');

const world = (options: WorldOptions = {}): Promise<World> =>
  worldOfTest({ sites: SITES, speedUp: 240, before: healthySites, ...options });

/** The site that comes first in plans. */
async function firstSite(w: World): Promise<string> {
  const { sites } = await call(w, 'listSites', { perPage: 1 });
  return sites[0]?.id ?? '';
}
/** A failure is not followed by another attempt. */
const once = { attempts: 1, backoff: 'fixed', delayMs: 1000, maxDelayMs: 1000 } as const;

const inBatches = (changes: Partial<RolloutRule> = {}, policy: Partial<Policy> = {}): Policy =>
  aPolicy({
    rollout: {
      batches: [{ count: 2 }, { percent: 30 }, { percent: 100 }],
      pauseMs: 0,
      maxFailed: { count: 0 },
      waitWhenClosedMs: 0,
      ...changes,
    },
    ...policy,
  });
const synced = ({ sandbox }: World) => sandbox.journal.effectsOf('syncSite');
const isAt = (is: string) => (run: Run) => run.rollout?.is === is;

test('batches are taken from the plan in its order, and each begins when the one before it has ended', async () => {
  const w = await world();
  const run = await w.ended(await w.fire(inBatches()));

  expect(run).toMatchObject({ status: 'succeeded', counts: { succeeded: 10 } });
  expect(run.rollout?.batches.map(({ takes, targets }) => [takes, targets])).toEqual([
    ['2 targets', 2],
    ['30%', 3],
    ['100%', 5],
  ]);
  const targets = await w.targets(run);
  expect(targets.map(({ batch }) => batch)).toEqual([
    ...Array(2).fill(1),
    ...Array(3).fill(2),
    ...Array(5).fill(3),
  ]);
  const last = (batch: number) =>
    Math.max(...targets.flatMap((one) => (one.batch === batch ? [one.finishedAt ?? 0] : [])));
  const first = (batch: number) =>
    Math.min(...targets.flatMap((one) => (one.batch === batch ? [one.startedAt ?? 0] : [])));
  expect(first(2)).toBeGreaterThanOrEqual(last(1));
  expect(first(3)).toBeGreaterThanOrEqual(last(2));
  expect(synced(w)).toHaveLength(10);
});

test('a canary breaks, and the rest is never touched', async () => {
  const w = await world();
  w.sandbox.site(await firstSite(w)).failNextSync('the backup is broken');

  const run = await w.ended(await w.fire(inBatches({}, { retry: once })));

  expect(run).toMatchObject({
    status: 'stopped',
    ending: 'gate-closed',
    counts: { failed: 1, cancelled: 8 },
  });
  expect(run.detail).toBe(
    'The gate after batch 1 of 3 (2 targets) closed: 1 of 2 targets failed, and rollout.max_failed is 0.',
  );
  expect(new Set(synced(w)).size).toBe(2);
  const reasons = Object.values(await w.reasons(run));
  expect(reasons.filter((reason) => reason === 'gate-closed')).toHaveLength(8);
  expect((await w.caretaker.records.batches.gates(run.id)).get(1)).toEqual([
    {
      id: await firstSite(w),
      label: expect.any(String),
      is: 'failed',
      why: expect.stringMatching(/the backup is broken/),
    },
  ]);
});

test('the sites of the condition come first, one that takes no site begins no batch, and failures within max_failed go on', async () => {
  const w = await world();
  const batches = [
    { where: 'site.url.contains("canary")' },
    { where: 'site.url.contains("nowhere")' },
    { count: 3 },
  ];
  w.sandbox.site('site-0007').isCalled({ url: 'https://canary.example' });
  const failing = (await call(w, 'listSites', {})).sites.find(({ id }) => id !== 'site-0007')?.id ?? '';
  w.sandbox.site(failing).failNextSync('the backup is broken');
  const run = await w.ended(
    await w.fire(inBatches({ batches, maxFailed: { percent: 50 } }, { retry: once })),
  );
  const targets = await w.targets(run);
  const canaries = targets.filter(({ batch }) => batch === 1).map(({ id }) => id);
  expect(canaries).toEqual(['site-0007']);
  expect(run.rollout?.batches.map(({ takes, targets: count }) => [takes, count])).toEqual([
    ['where site.url.contains("canary")', canaries.length],
    ['where site.url.contains("nowhere")', 0],
    ['3 targets', 3],
    ['the rest', SITES - 3 - canaries.length],
  ]);
  expect(targets.find(({ id }) => id === failing)).toMatchObject({ batch: 3, outcome: 'failed' });
  expect(run).toMatchObject({ status: 'partial', counts: { succeeded: 9, failed: 1 } });
});

test('a site that is no longer healthy, or no longer shown, closes the gate, which says what it saw', async () => {
  const w = await world();
  const policy = inBatches({ pauseMs: 3_600_000, healthy: 'site.connection.status == "connected"' });
  const run = await w.ended(await w.fire(policy), isAt('pausing'));
  const [first = '', second = ''] = synced(w);
  w.sandbox.site(first).disconnect();
  await call(w, 'deleteSite', { site_id: second });
  await w.caretaker.engine.skipPause(run.id, { by: anna });

  const end = await w.ended(run);

  expect(end).toMatchObject({ status: 'stopped', counts: { succeeded: 2, cancelled: 8 } });
  expect(end.rollout?.batches[0]).toMatchObject({
    gate: { is: 'closed', done: 2, failed: 0, unhealthy: 2 },
    pauseSkipped: { by: 'anna' },
  });
  const seen = (await w.caretaker.records.batches.gates(run.id)).get(1);
  expect(seen?.toSorted((a, b) => (a.id === first ? -1 : b.id === first ? 1 : 0))).toMatchObject([
    { id: first, is: 'unhealthy' },
    { id: second, is: 'unknown', why: 'The list does not show it.' },
  ]);
  expect(new Set(synced(w)).size).toBe(2);
});

test('while the service is down the gate is asked again and again, and the rollout goes on when it is back', async () => {
  const w = await world();
  const policy = inBatches({ pauseMs: 3_600_000, healthy: 'site.connection.status == "connected"' });
  const run = await w.ended(await w.fire(policy), isAt('pausing'));
  w.sandbox.outage.begin('status-503');
  await w.caretaker.engine.skipPause(run.id, { by: anna });
  await until(w, async () => (await w.caretaker.records.runs.get(run.id))?.detail !== undefined);
  expect((await w.caretaker.records.runs.get(run.id))?.detail).toMatch(
    /could not be asked, and this is tried again/,
  );
  expect(new Set(synced(w)).size).toBe(2);
  w.sandbox.outage.end();

  const next = await w.ended(run, ({ rollout }) => rollout?.batches[1]?.begunAt !== undefined);
  expect(next.detail).toBeUndefined();
});

test('a run with a closed gate waits for a person where the policy says so, and resume begins the next batch', async () => {
  const w = await world();
  w.sandbox.site(await firstSite(w)).failNextSync('the backup is broken');
  const policy = inBatches({ waitWhenClosedMs: 24 * 3_600_000, batches: [{ count: 2 }] }, { retry: once });
  const run = await w.ended(await w.fire(policy), isAt('closed'));
  expect(run.detail).toMatch(/^The gate after batch 1 of 2 \(2 targets\) closed/);

  await w.caretaker.engine.resume(run.id, { by: anna, reason: 'known' });

  const end = await w.ended(run);
  expect(end).toMatchObject({ status: 'partial', counts: { succeeded: 9, failed: 1 } });
  expect(end.rollout?.batches[0]?.resumed).toMatchObject({ by: 'anna', reason: 'known' });
});

test('a run whose closed gate nobody resumes ends as stopped; resume then starts a run over the rest', async () => {
  const w = await world();
  w.sandbox.site(await firstSite(w)).failNextSync('the backup is broken');
  const policy = inBatches({ waitWhenClosedMs: 600_000 }, { retry: once });
  const closed = await w.ended(await w.fire(policy), isAt('closed'));
  w.clock.leap(600_000);
  const run = await w.ended(closed);
  expect(run.status).toBe('stopped');

  const rest = await w.caretaker.engine.resume(run.id, { by: anna });

  const end = await w.ended(rest);
  expect(end).toMatchObject({
    status: 'succeeded',
    startedBy: { kind: 'local', name: 'anna' },
    counts: { planned: 8, succeeded: 8 },
  });
  expect(new Set(synced(w)).size).toBe(10);
});

test('a paused rollout is cancelled manually: what has begun is done, the rest is not touched', async () => {
  const w = await world();
  const run = await w.ended(await w.fire(inBatches({ pauseMs: 3_600_000 })), isAt('pausing'));

  await w.caretaker.engine.cancel(run.id);

  expect(await w.ended(run)).toMatchObject({ status: 'cancelled', counts: { succeeded: 2, cancelled: 8 } });
  expect(synced(w)).toHaveLength(2);
});

test('each batch waits for its own approval where the policy says so', async () => {
  const w = await world();
  const policy = inBatches(
    { batches: [{ count: 2 }] },
    { approval: { when: 'always', expiresMs: 86_400_000, eachBatch: true } },
  );
  const run = await w.ended(await w.fire(policy), ({ status }) => status === 'awaiting-approval');
  expect(synced(w)).toEqual([]);
  await w.caretaker.engine.approve(run.id, { by: anna });
  const second = await w.ended(
    run,
    ({ status, approvals }) => status === 'awaiting-approval' && approvals?.length === 2,
  );
  expect(synced(w)).toHaveLength(2);
  const [before, now] = second.approvals ?? [];
  await expect(w.caretaker.engine.approve(run.id, { by: anna, hash: before?.hash ?? '' })).rejects.toThrow(
    /another plan/,
  );
  expect(now).toMatchObject({ from: 2, to: 2 });
  await w.caretaker.engine.approve(run.id, { by: anna });

  expect(await w.ended(run)).toMatchObject({ status: 'succeeded', counts: { succeeded: 10 } });
});

test('a batch that is rejected is not done, and the rest is', async () => {
  const w = await world();
  const policy = inBatches({}, { approval: { when: 'always', expiresMs: 86_400_000 } });
  const run = await w.ended(await w.fire(policy), ({ status }) => status === 'awaiting-approval');

  await w.caretaker.engine.reject(run.id, { by: anna, batch: 2 });
  await w.caretaker.engine.approve(run.id, { by: anna, batch: 3 });

  const end = await w.ended(run);
  expect(end).toMatchObject({ status: 'succeeded', counts: { succeeded: 7, cancelled: 3 } });
  expect((await w.targets(end)).filter(({ batch }) => batch === 2).map(({ reason }) => reason)).toEqual(
    Array(3).fill('not-approved'),
  );
});
