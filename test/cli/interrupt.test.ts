/**
 * Signals while a command follows a run: in this process, and once as a process, which ends immediately.
 * `interrupt.long.test.ts` has kills, and the time limit without Redis.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { handleSignals } from '../../src/cli/interruption.ts';
import { openTerminal } from '../../src/cli/output/terminal.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { fastClock } from '../support/caretaker.ts';
import { type Desk, openDesk, untilSeen } from '../support/cli.ts';
import { startFaultyService } from '../support/faulty-service.ts';
import { TestIo } from '../support/io.ts';
import { startTestRedis } from '../support/redis.ts';
import { openRedisProxy } from '../support/redis-proxy.ts';

let sandbox: Sandbox;
let desk: Desk;

beforeAll(async () => {
  const clock = fastClock(5, Date.now());
  sandbox = await startSandbox({ sites: 12, rateLimit: 0, token: 't', clock });
  for (const id of sandbox.siteIds()) sandbox.site(id).syncTakes(10_000);
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 't' }, clock);
});
/** Every site is stale, so that the policy has targets. */
beforeEach(() => {
  for (const id of sandbox.siteIds()) sandbox.site(id).lastSynced(30 * 3_600_000);
});
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
});

/** Resolves when the service has received a request for a sync. */
async function firstSync(): Promise<void> {
  await untilSeen(() => sandbox.journal.effects.length > 0);
}

test('Ctrl-C records work in flight and prints how to continue; then nothing is lost and nothing done twice', async () => {
  const started = desk.start(['run', 'nightly-sync']);
  await firstSync();
  started.signal('SIGINT');
  const { code, stderr } = await started.ended;
  expect(code).toBe(130);
  const [, id = ''] = /caretaker runs resume (\S+)/.exec(stderr) ?? [];
  expect(id).toMatch(/^nightly-sync\./);

  const { stdout } = await desk.run(['runs', 'resume', id, '--json']);

  const run = JSON.parse(stdout);
  expect(run.run).toBe(id);
  expect(run.targets.every(({ outcome }: { outcome: string | null }) => outcome !== null)).toBe(true);
  const synced = sandbox.journal.effectsOf('syncSite');
  expect(new Set(synced).size).toBe(synced.length);
});

test('a service that does not respond to a request is named within seconds, long before the timeout', async () => {
  const service = await startFaultyService(() => undefined);
  const there = { CARETAKER_BASE_URL: service.url, CARETAKER_DATA_DIR: '.caretaker/elsewhere' };
  const started = desk.start(['run', 'nightly-sync'], there);
  expect(await started.line(/has not responded to a request/)).toContain(service.url);
  started.signal('SIGINT');
  expect((await started.ended).code).toBe(130);
  await service.stop();
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

  test('a daemon that is still starting ends at a signal, whatever it waits for', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => void silent.close());
    const connected = once(silent, 'connection');
    const { port } = silent.address() as AddressInfo;
    const { child, ended } = desk.spawn(['daemon'], { REDIS_URL: `redis://127.0.0.1:${port}` });
    await connected;
    child.kill('SIGTERM');
    const { code, stderr } = await ended;
    expect(stderr).toContain('stopped while it was starting');
    expect(code).toBe(0);
  });

  test('a command that could record its work, but does not, ends within 30 seconds of a signal', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const io = new TestIo();
    const exited = new Promise<number>((resolve) => {
      io.exit = ((code: number) => resolve(code)) as typeof io.exit;
    });
    handleSignals(openTerminal(io), {
      continueWith: 'caretaker runs resume a',
      ping: async () => undefined,
    });
    io.emit('SIGTERM');

    await vi.advanceTimersByTimeAsync(30_000);

    expect(await exited).toBe(130);
    expect(io.printed.stderr).toContain('could not be recorded, because it took too long. Continue with: ');
  });

  test('a second signal ends it immediately, and it still prints how to continue', async () => {
    const { child, ended } = await interrupted();
    const asked = performance.now();
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    expect(code).toBe(130);
    expect(performance.now() - asked).toBeLessThan(5_000);
    expect(stderr).toMatch(/Stopped immediately\. Continue with: caretaker runs resume nightly-sync\.\S+\n$/);
  });
});
