/**
 * Signals while a command follows a run: in this process, and once as a process, which ends immediately.
 * `interrupt.long.test.ts` has kills, and the time limit without Redis.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { handleSignals } from '../../src/cli/interruption.ts';
import { openTerminal } from '../../src/cli/output/terminal.ts';
import { fastClock } from '../support/caretaker.ts';
import { untilSeen } from '../support/cli.ts';
import { startFaultyService } from '../support/faulty-service.ts';
import { TestIo } from '../support/io.ts';
import { sandboxOfFile } from './desk-of-file.ts';
import { interruptedWithoutRedis } from './without-redis.ts';

const { sandbox, desk } = await sandboxOfFile({
  sites: 12,
  clock: fastClock(5, Date.now()),
  keepsRedis: false,
});
for (const id of sandbox.siteIds()) sandbox.site(id).syncTakes(10_000);
/** Every site is stale, so that the policy has targets. */
beforeEach(() => {
  for (const id of sandbox.siteIds()) sandbox.site(id).lastSynced(30 * 3_600_000);
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
    const { child, ended } = await interruptedWithoutRedis(desk, sandbox);
    const asked = performance.now();
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    expect(code).toBe(130);
    expect(performance.now() - asked).toBeLessThan(5_000);
    expect(stderr).toMatch(/Stopped immediately\. Continue with: caretaker runs resume nightly-sync\.\S+\n$/);
  });
});
