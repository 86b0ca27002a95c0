/** Commands that are killed, and commands whose Redis is gone: these wait for the time limit of a real process. */
import { beforeEach, expect, test } from 'vitest';
import { untilSeen } from '../support/cli.ts';
import { sandboxOfFile } from './desk-of-file.ts';
import { interruptedWithoutRedis } from './without-redis.ts';

const { sandbox, desk } = await sandboxOfFile({ sites: 12, speed: 20, keepsRedis: false });
/** Every site is stale, so that the policy has targets. */
beforeEach(() => {
  for (const id of sandbox.siteIds()) sandbox.site(id).lastSynced(30 * 3_600_000);
});

test('after a command was killed with SIGKILL, the next one continues all of its work', async () => {
  const before = sandbox.journal.effectsOf('syncSite').length;
  const started = desk.spawn(['run', 'nightly-sync']);
  await untilSeen(() => sandbox.journal.effectsOf('syncSite').length > before);
  started.child.kill('SIGKILL');
  await started.ended;
  const [interrupted] = await desk.json(['runs']);
  expect(interrupted.status).toBe('running');

  const run = await desk.json(['runs', 'resume', interrupted.run]);

  expect(run.counts.succeeded + run.counts.failed + run.counts.skipped).toBe(12);
  const synced = sandbox.journal.effectsOf('syncSite');
  expect(new Set(synced).size).toBe(synced.length);
});

test('without Redis, a signal ends the command within seconds; it prints that work is not recorded yet, and how to continue', async () => {
  const { ended } = await interruptedWithoutRedis(desk, sandbox);
  const { code, stderr } = await ended;
  expect(code).toBe(130);
  expect(stderr.trim().split('\n').at(-1)).toMatch(
    /^Work in progress could not be recorded, because Redis does not respond\. Continue with: caretaker runs resume nightly-sync\.\S+$/,
  );
}, 30_000);
