/** Actions of users on the dashboard of a real daemon, with the sandbox as its account. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Daemon, startDaemon } from '../../src/app/daemon.ts';
import type { Role } from '../../src/app/roles.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';
import { sessionOf } from './world.ts';

const MINUTE = 60_000;

let world: World;
let daemon: Daemon;
let folder: string;
let cookie = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'caretaker-policies-'));
  writeFileSync(
    join(folder, 'sync.yaml'),
    `policies:
  - name: sync
    job: site-sync
    limits: { concurrency: 1 }
  - name: asked
    job: site-sync
    approval: { when: always }
`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Slow enough that a daemon on a busy machine is not considered dead between two signs of life. */
const SPEED_UP = 5;

async function start(roles: Role[]): Promise<void> {
  world = await startWorld({ sites: 4, seed: 3, speedUp: SPEED_UP, work: false, policiesDir: folder });
  daemon = await startDaemon({ caretaker: world.caretaker, roles });
  await isSeen();
  cookie = sessionOf(await fetch(daemon.dashboard?.signInLink ?? '', { redirect: 'manual' }));
}
/** Resolves when the daemon has said that it is running. */
const isSeen = () =>
  until(world, async () => (await world.caretaker.records.presence.running(world.clock.now())).length > 0);
async function stop(): Promise<void> {
  await daemon.stop();
  await world.stop();
}

const url = () => daemon.dashboard?.url ?? '';
const look = (path: string) =>
  fetch(url() + path, { redirect: 'manual', headers: { cookie, accept: 'text/html' } });
const press = (path: string, fields: Record<string, string> = {}, changed: Record<string, string> = {}) =>
  fetch(url() + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, origin: url(), accept: 'text/html', ...changed },
    body: new URLSearchParams(fields),
  });
const runs = () => world.caretaker.records.runs.list({ limit: 10 });
/** The run that a response redirects to. */
const runAt = (answer: Response) => decodeURIComponent(answer.headers.get('location')?.split('/')[2] ?? '');
const syncsTake = (ms: number) => {
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).syncTakes(ms);
};

describe('with a worker', () => {
  beforeAll(() => start(['worker', 'dashboard']));
  afterAll(() => stop());
  beforeEach(async () => {
    syncsTake(1_000);
    // A test before may have moved the clock.
    await isSeen();
  });

  test('“Run now” asks for confirmation, and then fires the policy like the command', async () => {
    const question = await look('/policies/sync/run');
    expect(await question.text()).toContain('Run sync now?');
    expect(await runs()).toEqual([]);

    const answer = await press('/policies/sync/run');

    expect(answer.status).toBe(303);
    const run = await world.ended(runAt(answer));
    expect(run).toMatchObject({ policy: 'sync', trigger: 'manual' });
    expect((await look(`/runs/${run.id}`)).status).toBe(200);
  });

  test('actions are rejected from pages of other sites, and without a session', async () => {
    const before = await runs();
    const foreign = await press('/policies/sync/run', {}, { origin: 'https://elsewhere.example' });
    const stranger = await press('/policies/sync/pause', {}, { cookie: '' });

    expect([foreign.status, stranger.status]).toEqual([403, 303]);
    expect(stranger.headers.get('location')).toBe('/sign-in?to=%2Fpolicies%2Fsync%2Fpause');
    expect(await runs()).toEqual(before);
    expect((await world.caretaker.records.policies.state('sync')).pause).toBeUndefined();
  });

  test('a policy is paused with a reason, for a given time, and resumed', async () => {
    const { policies } = world.caretaker.records;

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

  test('a retry runs the failed targets in a run of its own, and is rejected for a run without failures', async () => {
    for (const id of world.sandbox.siteIds()) world.sandbox.site(id).failNextSync('The disk is full.');
    const first = await world.ended(runAt(await press('/policies/sync/run')));
    expect(first.counts.failed).toBeGreaterThan(0);

    const question = await (await fetch(`${url()}/runs/${first.id}/retry`, { headers: { cookie } })).text();
    expect(question).toMatch(/<input[^>]* name="with_reason" value="task-failed" checked/);
    expect((await press(`/runs/${first.id}/retry`)).status).toBe(400);
    const reasons = { with_reason: 'task-failed' };
    const retried = await world.ended(runAt(await press(`/runs/${first.id}/retry`, reasons)));

    expect(retried).toMatchObject({ trigger: 'retry', retryOf: first.id, status: 'succeeded' });
    expect(retried.counts.planned).toBe(first.counts.failed);
    const again = await press(`/runs/${retried.id}/retry`, reasons);
    expect(again.status).toBe(409);
    expect(await again.text()).toContain('Nothing failed in the run');
  });

  test('of a run that waits for an approval some targets can be chosen; the others are not done', async () => {
    const waiting = runAt(await press('/policies/asked/run'));
    await world.ended(waiting, ({ status }) => status === 'awaiting-approval');
    const question = await (await look(`/runs/${waiting}/approve`)).text();
    const chosen = [...question.matchAll(/name="targets" value="([^"]+)" checked/g)].map(([, id]) =>
      String(id),
    );
    const plan = /name="plan" value="([^"]+)"/.exec(question)?.[1] ?? '';
    expect(chosen.length).toBeGreaterThan(1);

    const form = { plan, of: String(chosen.length) };
    expect((await press(`/runs/${waiting}/approve`, form)).status).toBe(400);
    expect((await press(`/runs/${waiting}/approve`, { ...form, targets: chosen[0] ?? '' })).status).toBe(303);
    const run = await world.ended(waiting);

    const worked = (await world.targets(run)).filter(({ reason }) => reason !== 'not-approved');
    expect(worked.map(({ id }) => id).filter((id) => chosen.includes(id))).toEqual([chosen[0]]);
  });

  test('a run is cancelled: work in flight is followed to its end, and nothing new is started', async () => {
    // Until the test lets them end.
    syncsTake(5 * MINUTE);
    const id = runAt(await press('/policies/sync/run'));
    await world.ended(id, ({ status }) => status === 'running');

    expect((await look(`/runs/${id}/cancel`)).status).toBe(200);
    expect((await world.caretaker.records.runs.get(id))?.ending).toBeUndefined();
    await press(`/runs/${id}/cancel`);
    world.clock.leap(6 * MINUTE);

    const run = await world.ended(id);
    expect(run.status).toBe('cancelled');
    expect(run.counts.cancelled).toBeGreaterThan(0);
    const again = await press(`/runs/${id}/cancel`);
    expect(again.status).toBe(409);
    expect(await again.text()).toContain('has already ended');
  });

  test('a run that no process works on is force-ended at once, after confirmation', async () => {
    syncsTake(5 * MINUTE);
    const id = runAt(await press('/policies/sync/run'));
    await world.ended(id, ({ status }) => status === 'running');

    expect(await (await look(`/runs/${id}/end`)).text()).toContain('Force-end sync?');
    expect((await world.caretaker.records.runs.get(id))?.ending).toBeUndefined();
    const answer = await press(`/runs/${id}/end`);

    expect(answer.status).toBe(303);
    expect((await world.caretaker.records.runs.get(id))?.status).toBe('cancelled');
    expect((await look(`/runs/${id}/end`)).status).toBe(409);
  });
});

describe('without a worker', () => {
  beforeAll(() => start(['dashboard']));
  afterAll(() => stop());

  test('nothing is fired while no worker is running', async () => {
    const answer = await press('/policies/sync/run');

    expect(answer.status).toBe(409);
    expect(await answer.text()).toContain('No daemon with the worker role is running');
    expect(await runs()).toEqual([]);
  });

  test('a held run is on the overview, and continues after it is released with confirmation', async () => {
    const { records } = world.caretaker;
    const run = await world.fire(aPolicy());
    const { id } = run;
    await records.runs.hold(run, { at: world.clock.now(), since: 1_000 }, 'The run is held.');

    expect(await (await look('/')).text()).toContain(`The run ${id} is held`);
    expect(await (await look(`/runs/${id}`)).text()).toContain('Release this run');
    expect(await (await look(`/runs/${id}/resume`)).text()).toContain('check the account first');
    expect((await press(`/runs/${id}/resume`)).status).toBe(409);
    const answer = await press(`/runs/${id}/resume`, { release: '1' });

    expect(answer.status).toBe(303);
    expect((await records.runs.get(id))?.held).toBeUndefined();
    expect((await look(`/runs/${id}/resume`)).status).toBe(409);
  });
});

test('a process reports that it is ready only as long as its roles are running', async () => {
  await start(['worker', 'scheduler', 'dashboard']);
  onTestFinished(stop);
  expect((await fetch(`${url()}/readyz`)).status).toBe(200);

  await world.redis.kill();
  // Half a minute without a sign of life, on the clock of this world.
  world.clock.leap(40_000);
  const answer = await fetch(`${url()}/readyz`);

  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain('the worker is not running, the scheduler is not running');
  await world.redis.restart();
});
