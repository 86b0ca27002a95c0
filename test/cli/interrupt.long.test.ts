/** Commands that are killed, and commands whose Redis is gone: these wait for the time limit of a real process. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk, untilSeen } from '../support/cli.ts';
import { startTestRedis } from '../support/redis.ts';
import { openRedisProxy } from '../support/redis-proxy.ts';

let sandbox: Sandbox;
let desk: Desk;

beforeAll(async () => {
  sandbox = await startSandbox({ sites: 12, speed: 20, rateLimit: 0, token: 't' });
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 't' });
});
/** Every site is stale, so that the policy has targets. */
beforeEach(() => {
  for (const id of sandbox.siteIds()) sandbox.site(id).lastSynced(30 * 3_600_000);
});
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
});

test('after a command was killed with SIGKILL, the next one continues all of its work', async () => {
  const before = sandbox.journal.effectsOf('syncSite').length;
  const started = desk.spawn(['run', 'nightly-sync']);
  await untilSeen(() => sandbox.journal.effectsOf('syncSite').length > before);
  started.child.kill('SIGKILL');
  await started.ended;
  const [interrupted] = JSON.parse((await desk.run(['runs', '--json'])).stdout);
  expect(interrupted.status).toBe('running');

  const { stdout } = await desk.run(['runs', 'resume', interrupted.run, '--json']);

  const run = JSON.parse(stdout);
  expect(run.counts.succeeded + run.counts.failed + run.counts.skipped).toBe(12);
  const perSite = new Map<string, number>();
  for (const site of sandbox.journal.effectsOf('syncSite')) perSite.set(site, (perSite.get(site) ?? 0) + 1);
  expect(Math.max(...perSite.values())).toBe(1);
});

describe('while Redis is unavailable', () => {
  /** An active run whose Redis became unavailable and that got a signal. */
  async function interrupted() {
    const redis = await startTestRedis();
    const redisProxy = await openRedisProxy(redis.socketPath);
    const before = sandbox.journal.effects.length;
    const started = desk.spawn(['run', 'nightly-sync'], { REDIS_URL: redisProxy.url });
    await untilSeen(() => sandbox.journal.effects.length > before);
    await redisProxy.close();
    await redis.stop();
    started.child.kill('SIGTERM');
    await started.line(/^Stopping after /);
    return started;
  }

  test('a signal ends the command within seconds; it prints that work is not recorded yet, and how to continue', async () => {
    const { ended } = await interrupted();
    const { code, stderr } = await ended;
    expect(code).toBe(130);
    expect(stderr.trim().split('\n').at(-1)).toMatch(
      /^Work in progress could not be recorded, because Redis does not respond\. Continue with: caretaker runs resume nightly-sync\.\S+$/,
    );
  }, 30_000);
});
