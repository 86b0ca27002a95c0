/** Actions of users: each form asks first, and then does what the command does. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { siteSync } from '../../jobs/site-sync/job.ts';
import { createRegistry } from '../../src/job/registry.ts';
import { aTarget } from '../support/builders.ts';
import { until } from '../support/caretaker.ts';
import { type DaemonWorld, startDaemonWorld } from './daemon-world.ts';
import { type Ask, aPolicy, aRun, ended, postForm, remember, startWorld, type World } from './world.ts';

describe('on the dashboard', () => {
  const sync = aPolicy('sync');
  let world: World;
  let ask: Ask;
  beforeEach(async () => {
    world = await startWorld({ policies: () => [sync], registry: createRegistry([siteSync]) });
    ask = await world.signedIn();
  });
  afterEach(() => world.stop());

  const press = (path: string, fields: Record<string, string> = {}) =>
    postForm(ask, world.dashboard.url, path, fields);
  const runOf = (id: string) => aRun({ id, policy: 'sync', policyJson: JSON.stringify(sync) });

  test('actions are rejected from pages of other sites, and without a session', async () => {
    const foreign = await postForm(ask, 'https://elsewhere.example', '/policies/sync/run');
    const stranger = await world.ask('/policies/sync/pause', {
      method: 'POST',
      headers: { origin: world.dashboard.url, accept: 'text/html' },
      body: new URLSearchParams(),
    });

    expect([foreign.status, stranger.status]).toEqual([403, 303]);
    expect(stranger.headers.get('location')).toBe('/sign-in?to=%2Fpolicies%2Fsync%2Fpause');
    expect(await world.records.runs.list({ limit: 10 })).toEqual([]);
    expect((await world.records.policies.state('sync')).pause).toBeUndefined();
  });

  test('a policy is paused with a reason, for a given time, and resumed', async () => {
    const { policies } = world.records;

    await press('/policies/sync/pause', { reason: 'An incident', for: '3d' });
    const { pause } = await policies.state('sync');
    expect(pause).toMatchObject({ by: 'admin', reason: 'An incident' });
    expect((pause?.until ?? 0) - (pause?.at ?? 0)).toBeCloseTo(3 * 86_400_000, -5);

    const wrong = await press('/policies/sync/pause', { for: 'ages' });
    expect(wrong.status).toBe(400);
    expect(await wrong.text()).toContain('“ages” is not a duration');
    expect((await policies.state('sync')).pause).toMatchObject({ reason: 'An incident' });

    await press('/policies/sync/resume');
    expect((await policies.state('sync')).pause).toBeUndefined();
  });

  test('a retry is a run of its own over the failed targets, and is rejected for a run without failures', async () => {
    const { runs } = world.records;
    for (const [id, outcome] of [
      ['first', 'failed'],
      ['fine', 'succeeded'],
    ] as const) {
      const reason = outcome === 'failed' ? { reason: 'task-failed' } : {};
      await remember(world.records, runOf(id), [ended('a', outcome, reason), ended('b', 'succeeded')]);
      await runs.move(runOf(id), outcome === 'failed' ? 'partial' : 'succeeded', { at: 1 });
    }

    expect((await world.look('/runs/first/retry')).html).toMatch(
      /<input[^>]* name="with_reason" value="task-failed" checked/,
    );
    expect((await press('/runs/first/retry')).status).toBe(400);
    const reasons = { with_reason: 'task-failed' };
    const answer = await press('/runs/first/retry', reasons);

    const retried = (await runs.list({ limit: 10 })).filter(({ id }) => !['first', 'fine'].includes(id));
    expect(retried).toMatchObject([{ policy: 'sync', trigger: 'retry', retryOf: 'first' }]);
    const id = retried[0]?.id ?? '';
    expect(answer.headers.get('location')).toBe(`/runs/${id}`);
    expect(await runs.only(id)).toEqual(['a']);
    const again = await press('/runs/fine/retry', reasons);
    expect(again.status).toBe(409);
    expect(await again.text()).toContain('Nothing failed in the run');
  });

  test('a run is cancelled, or force-ended at once where no process works on it, after confirmation', async () => {
    const run = runOf('sync.1');
    const { targets } = world.records;
    await remember(world.records, run, [aTarget('a'), aTarget('b')]);
    const [dispatched] = await targets.dispatch(run.id, Date.now(), 1);
    // Work on it is in flight.
    expect(dispatched && (await targets.claim(run, dispatched, Date.now()))).toBeDefined();
    const stored = () => world.records.runs.get('sync.1');

    expect((await world.look('/runs/sync.1/cancel')).status).toBe(200);
    expect((await stored())?.ending).toBeUndefined();
    expect((await press('/runs/sync.1/cancel')).status).toBe(303);
    expect(await stored()).toMatchObject({ status: 'running', ending: 'cancelled' });

    expect((await world.look('/runs/sync.1/end')).html).toContain('Force-end sync?');
    expect((await stored())?.status).toBe('running');
    expect((await press('/runs/sync.1/end')).status).toBe(303);
    expect((await stored())?.status).toBe('cancelled');
    expect((await world.look('/runs/sync.1/end')).status).toBe(409);
    const again = await press('/runs/sync.1/cancel');
    expect(again.status).toBe(409);
    expect(await again.text()).toContain('has already ended');
  });

  test('a held run is on the overview, and continues after it is released with confirmation', async () => {
    const { runs } = world.records;
    await remember(world.records, runOf('sync.1'), [aTarget('a')]);
    await runs.hold(runOf('sync.1'), { at: Date.now(), since: 1_000 }, 'The run is held.');

    expect((await world.look('/')).html).toContain('The run sync.1 is held');
    expect((await world.look('/runs/sync.1')).html).toContain('Release this run');
    expect((await world.look('/runs/sync.1/resume')).html).toContain('check the account first');
    expect((await press('/runs/sync.1/resume')).status).toBe(409);
    const answer = await press('/runs/sync.1/resume', { release: '1' });

    expect(answer.status).toBe(303);
    expect((await runs.get('sync.1'))?.held).toBeUndefined();
    expect((await world.look('/runs/sync.1/resume')).status).toBe(409);
  });
});

describe('of a daemon with all roles', () => {
  let daemon: DaemonWorld;
  beforeAll(async () => {
    daemon = await startDaemonWorld({
      sites: 4,
      seed: 3,
      // Slow enough that a daemon on a busy machine is not considered dead between two signs of life.
      speedUp: 5,
      roles: ['worker', 'scheduler', 'dashboard'],
      policies: () => 'policies: [{ name: asked, job: site-sync, approval: { when: always } }]\n',
    });
    const { sandbox } = daemon.world;
    for (const id of sandbox.siteIds()) sandbox.site(id).syncTakes(1_000);
  });
  afterAll(() => daemon.stop());

  test('“Run now” fires the policy, and of its run, which waits for an approval, some targets can be chosen; the others are not done', async () => {
    const { world, look, press } = daemon;
    expect((await look('/policies/asked/run')).html).toContain('Run asked now?');
    expect(await world.caretaker.records.runs.list({ limit: 10 })).toEqual([]);
    const fired = await press('/policies/asked/run');
    expect(fired.status).toBe(303);
    const id = decodeURIComponent(fired.headers.get('location')?.split('/')[2] ?? '');
    const waiting = await world.ended(id, ({ status }) => status === 'awaiting-approval');
    expect(waiting).toMatchObject({ policy: 'asked', trigger: 'manual' });
    expect((await look(`/runs/${id}`)).status).toBe(200);

    const { html } = await look(`/runs/${id}/approve`);
    const chosen = [...html.matchAll(/name="targets" value="([^"]+)" checked/g)].map(([, one]) =>
      String(one),
    );
    const plan = /name="plan" value="([^"]+)"/.exec(html)?.[1] ?? '';
    expect(chosen.length).toBeGreaterThan(1);
    const form = { plan, of: String(chosen.length) };
    expect((await press(`/runs/${id}/approve`, form)).status).toBe(400);
    expect((await press(`/runs/${id}/approve`, { ...form, targets: chosen[0] ?? '' })).status).toBe(303);
    const run = await world.ended(id);

    const worked = (await world.targets(run)).filter(({ reason }) => reason !== 'not-approved');
    expect(worked.map((one) => one.id).filter((one) => chosen.includes(one))).toEqual([chosen[0]]);
  });

  test('a process reports that it is ready only as long as its roles are running', async () => {
    const { world, ask } = daemon;
    expect((await ask('/readyz')).status).toBe(200);

    await world.redis.kill();
    // Half a minute without a sign of life, on the clock of this world.
    world.clock.leap(40_000);
    const answer = await ask('/readyz');

    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('the worker is not running, the scheduler is not running');
    await world.redis.restart();
    await until(world, async () => (await ask('/readyz')).status === 200);
  });
});
