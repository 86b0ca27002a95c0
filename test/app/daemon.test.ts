import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../src/app/daemon.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';
import { memoryFolder } from '../support/in-memory.ts';
import { quickSyncs } from '../support/quick-syncs.ts';
import { sampleOf } from '../support/sample.ts';

let world: World;
let folder: string;
let daemons: Daemon[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(memoryFolder(), 'caretaker-policies-'));
});
afterEach(async () => {
  for (const daemon of daemons) await daemon.stop();
  daemons = [];
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
});

const hourly = `policies:
  - name: hourly
    job: site-sync
    schedule: { cron: "0 * * * *", catchup: 30m }
`;

test.runIf(sampleOf(false, true))(
  'two daemons on one Redis fire each scheduled time of a policy once',
  async () => {
    writeFileSync(join(folder, 'hourly.yaml'), hourly);
    world = await startWorld({ before: quickSyncs, sites: 2, work: false, policiesDir: folder });
    const others = [world.caretaker, await world.another({ work: false })];
    daemons = await Promise.all(
      others.map((caretaker) => startDaemon({ caretaker, roles: ['scheduler', 'worker'] })),
    );
    const { records } = world.caretaker;
    await until(world, async () => (await records.policies.state('hourly')).cursor !== undefined);

    const HOUR = 3_600_000;
    const first = (Math.floor(world.clock.now() / HOUR) + 1) * HOUR;
    for (const scheduledFor of [first, first + HOUR]) {
      world.clock.leap(scheduledFor - world.clock.now());
      const list = () => records.runs.list({ policy: 'hourly', since: scheduledFor, limit: 10 });
      await until(world, async () => (await list()).some(({ finishedAt }) => finishedAt !== undefined));

      expect(await list()).toMatchObject([{ scheduledFor, status: 'succeeded', counts: { succeeded: 2 } }]);
    }
    expect(world.sandbox.journal.effectsOf('syncSite')).toHaveLength(4);
  },
);

test('each daemon shows how it is, and together they note the depth of the queues once a minute', async () => {
  world = await startWorld({ before: quickSyncs, sites: 1, work: false, policiesDir: folder });
  const others = [world.caretaker, await world.another({ work: false })];
  daemons = await Promise.all(others.map((caretaker) => startDaemon({ caretaker, roles: ['worker'] })));
  const { depths, presence } = world.caretaker.records;

  const noted = async () =>
    (await depths.lastHour(world.clock.now())).flatMap(({ depth }) => (depth ? [depth] : []));
  await until(world, async () => (await noted()).length > 0);

  expect((await noted())[0]).toEqual({ actions: 0, plans: 0, deliveries: 0 });
  // Both, at one moment: at sixty times the speed, a busy machine makes a beat late.
  let shown = await presence.running(world.clock.now());
  await until(world, async () => {
    shown = await presence.running(world.clock.now());
    return shown.length === 2;
  });
  for (const { vitals } of shown) {
    expect(vitals).toMatchObject({ node: process.versions.node, version: expect.stringMatching(/^\d/) });
    expect(vitals?.memoryBytes).toBeGreaterThan(vitals?.heapBytes ?? Number.POSITIVE_INFINITY);
    expect(vitals?.lagMs).toBeLessThanOrEqual(vitals?.maxLagMs ?? -1);
  }
});
