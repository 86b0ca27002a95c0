/**
 * The shipped policy nightly-sync on the command line: the promised result for each site, compared with the
 * account afterwards.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk } from '../support/cli.ts';
import { clearOfTheHour } from '../support/time-of-day.ts';

const HOUR = 3_600_000;
let sandbox: Sandbox;
let desk: Desk;

beforeAll(async () => {
  // The daily sync limit of each site is reset at midnight.
  await clearOfTheHour();
  sandbox = await startSandbox({ sites: 60, seed: 1, rateLimit: 0, token: 't' });
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 't' });
  await desk.keepRedis();
  // Far from the twenty hours of the policy, so that the time of day does not decide which sites are stale.
  for (const [at, id] of sandbox.siteIds().entries()) {
    sandbox.site(id).syncTakes(1_000);
    if (sandbox.site(id).state().lastSyncStatus === 'succeeded')
      sandbox.site(id).lastSynced((at % 3 === 0 ? 30 : 5) * HOUR);
  }
});
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
});

/** The result that the policy promises for a site, by its previous state. */
function promisedOf(id: string): string {
  const { connected, paused, locked, lastSyncAt, lastSyncStatus, ...now } = sandbox.site(id).state();
  if (!connected || paused || locked) return 'not-eligible';
  const synced = lastSyncStatus === 'succeeded' && Date.now() - Date.parse(lastSyncAt ?? '') < 20 * HOUR;
  if (synced) return 'already-done';
  if (now.underMaintenance) return 'maintenance';
  return now.syncsToday >= 5 ? 'daily-limit' : 'done';
}

const byId = (run: { targets: { id: string; reason: string }[] }) =>
  Object.fromEntries(run.targets.map(({ id, reason }) => [id, reason]));

test('each stale site is synced, all others are left alone, and a second run finds nothing to do', async () => {
  const promised = Object.fromEntries(sandbox.siteIds().map((id) => [id, promisedOf(id)]));
  const failing = ['site-0016', 'site-0041'];
  for (const id of failing) promised[id] = 'task-failed';
  const plan = JSON.parse((await desk.run(['plan', 'nightly-sync', '--json'])).stdout);

  const { code, stdout } = await desk.run(['run', 'nightly-sync', '--json']);

  const run = JSON.parse(stdout);
  expect(code).toBe(1);
  expect(run).toMatchObject({ status: 'partial', counts: { planned: 60, failed: 2 } });
  expect(byId(run)).toEqual(promised);
  expect(plan.targets).toHaveLength(Object.values(promised).filter((one) => !settled.includes(one)).length);
  const synced = Object.keys(promised).filter((id) => ['done', 'task-failed'].includes(promised[id] ?? ''));
  expect(sandbox.journal.effectsOf('syncSite').sort()).toEqual(synced.sort());
  expect(sandbox.journal.effects).toHaveLength(synced.length);
  for (const id of synced) {
    const { lastSyncStatus, snapshots } = sandbox.site(id).state();
    expect(lastSyncStatus).toBe(failing.includes(id) ? 'failed' : 'succeeded');
    expect(snapshots.at(-1)?.status).toBe(lastSyncStatus);
  }

  const again = JSON.parse((await desk.run(['run', 'nightly-sync', '--json'])).stdout);
  expect(sandbox.journal.effects).toHaveLength(synced.length);
  const settledNow = Object.entries(promised).map(([id, reason]) => [
    id,
    reason === 'done' ? 'already-done' : reason,
  ]);
  expect(byId(again)).toEqual(Object.fromEntries(settledNow));
});

const settled = ['not-eligible', 'already-done'];
