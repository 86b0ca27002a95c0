import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk, untilSeen } from '../support/cli.ts';
import { startFaultyService } from '../support/faulty-service.ts';
import { startTestRedis } from '../support/redis.ts';
import { openRedisProxy } from '../support/redis-proxy.ts';

let sandbox: Sandbox;
let desk: Desk;

beforeAll(async () => {
  sandbox = await startSandbox({ sites: 12, speed: 20, rateLimit: 0, token: 't' });
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 't' });
});
/** Every site lags behind, so that the policy has something to do. */
beforeEach(() => {
  for (const id of sandbox.siteIds()) sandbox.site(id).lastSynced(30 * 3_600_000);
});
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
});

/** Resolves when the service has been asked for a sync. */
async function firstSync(): Promise<void> {
  await untilSeen(() => sandbox.journal.effects.length > 0);
}

test('Ctrl-C lets what is in flight be recorded and says how to go on; going on loses and doubles nothing', async () => {
  const started = desk.start(['run', 'nightly-sync']);
  await firstSync();
  started.child.kill('SIGINT');
  const { code, stderr } = await started.ended;
  expect(code).toBe(130);
  const [, id = ''] = /caretaker runs continue (\S+)/.exec(stderr) ?? [];
  expect(id).toMatch(/^nightly-sync\./);

  const { stdout } = await desk.run(['runs', 'continue', id, '--json']);

  const run = JSON.parse(stdout);
  expect(run.run).toBe(id);
  expect(run.targets.every(({ outcome }: { outcome: string | null }) => outcome !== null)).toBe(true);
  const synced = sandbox.journal.effectsOf('syncSite');
  expect(new Set(synced).size).toBe(synced.length);
});

test('a command killed with SIGKILL leaves nothing that the next one does not pick up', async () => {
  const before = sandbox.journal.effectsOf('syncSite').length;
  const started = desk.start(['run', 'nightly-sync']);
  await untilSeen(() => sandbox.journal.effectsOf('syncSite').length > before);
  started.child.kill('SIGKILL');
  await started.ended;
  const [interrupted] = JSON.parse((await desk.run(['runs', '--json'])).stdout);
  expect(interrupted.status).toBe('running');

  const { stdout } = await desk.run(['runs', 'continue', interrupted.run, '--json']);

  const run = JSON.parse(stdout);
  expect(run.counts.succeeded + run.counts.failed + run.counts.skipped).toBe(12);
  const perSite = new Map<string, number>();
  for (const site of sandbox.journal.effectsOf('syncSite')) perSite.set(site, (perSite.get(site) ?? 0) + 1);
  expect(Math.max(...perSite.values())).toBe(2); // once for each of the two runs of this file
}, 90_000);

test('a service that takes a request and does not answer is named within seconds, long before it is given up', async () => {
  const service = await startFaultyService(() => undefined);
  const started = desk.start(['run', 'nightly-sync'], { CARETAKER_BASE_URL: service.url });
  expect(await started.line(/without an answer so far/)).toContain(service.url);
  started.child.kill('SIGINT');
  expect((await started.ended).code).toBe(130);
  await service.stop();
});

describe('while Redis is away', () => {
  /** A run under way whose Redis went away and that was asked to stop. */
  async function interrupted() {
    const redis = await startTestRedis();
    const redisProxy = await openRedisProxy(redis.socketPath);
    const before = sandbox.journal.effects.length;
    const started = desk.start(['run', 'nightly-sync'], { REDIS_URL: redisProxy.url });
    await untilSeen(() => sandbox.journal.effects.length > before);
    await redisProxy.close();
    await redis.stop();
    started.child.kill('SIGTERM');
    await started.line(/^Stopping: /);
    return started;
  }

  test('a signal ends a run after seconds, and says that it is not recorded yet and how to go on', async () => {
    const { ended } = await interrupted();
    const { code, stderr } = await ended;
    expect(code).toBe(130);
    expect(stderr.trim().split('\n').at(-1)).toMatch(
      /^What was under way could not be recorded yet: Redis does not answer; continue with: caretaker runs continue nightly-sync\.\S+$/,
    );
  }, 30_000);

  test('a second signal ends it at once, and still says how to go on', async () => {
    const { child, ended } = await interrupted();
    const asked = performance.now();
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    expect(code).toBe(130);
    expect(performance.now() - asked).toBeLessThan(5_000);
    expect(stderr).toMatch(/Stopped at once; continue with: caretaker runs continue nightly-sync\.\S+\n$/);
  }, 30_000);
});
