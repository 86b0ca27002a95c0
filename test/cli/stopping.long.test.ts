/** SIGTERM while the daemon works: each test waits for the ten seconds after which a process gives up. */
import { expect, test } from 'vitest';
import { sandboxOfFile } from './desk-of-file.ts';
import { redisThatGoes } from './without-redis.ts';

const { sandbox, desk } = await sandboxOfFile({ sites: 12, speed: 20, keepsRedis: false });
desk.write('config/caretaker.yaml', 'dashboard: { port: 0 }\n');
for (const id of sandbox.siteIds()) sandbox.site(id).lastSynced(30 * 3_600_000);

test('a daemon whose Redis became unavailable during a run ends about ten seconds after SIGTERM, and logs that', async () => {
  const redis = await redisThatGoes();
  const daemon = desk.spawn(['daemon'], { REDIS_URL: redis.url });
  await daemon.line(/the daemon is running/);
  await desk.run(['run', 'nightly-sync', '--detach'], { REDIS_URL: redis.url });
  while (sandbox.journal.effects.length === 0) await new Promise(setImmediate);
  await redis.goes();
  const asked = performance.now();
  daemon.child.kill('SIGTERM');

  const { code, stderr } = await daemon.ended;

  expect(code).toBe(0);
  expect(performance.now() - asked).toBeLessThan(16_000);
  expect(stderr.trim().split('\n').at(-1)).toContain(
    'stopped without Redis, which does not respond; the next daemon continues the work in progress',
  );
});

test('a daemon whose service does not respond ends about ten seconds after SIGTERM, and the next ends the run', async () => {
  const daemon = desk.spawn(['daemon']);
  await daemon.line(/the daemon is running/);
  sandbox.outage.begin('hang');
  const detached = await desk.run(['run', 'nightly-sync', '--detach']);
  const id = detached.stdout.trim();
  await daemon.line(new RegExp(`a run starts.*${id}|${id}.*a run starts`));
  const asked = performance.now();
  daemon.child.kill('SIGTERM');

  const { code, stderr } = await daemon.ended;

  expect(code).toBe(0);
  expect(performance.now() - asked).toBeLessThan(16_000);
  expect(stderr.trim().split('\n').at(-1)).toContain('stopped');
  sandbox.outage.end();
  const { stdout } = await desk.run(['runs', 'resume', id, '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ run: id, counts: { failed: 0 } });
});
