import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../src/app/daemon.ts';
import { startWorld, type World } from '../support/caretaker.ts';

let world: World;
let folder: string;
let daemons: Daemon[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'caretaker-policies-'));
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

test('two daemons on one Redis fire each scheduled time of a policy once', async () => {
  writeFileSync(join(folder, 'hourly.yaml'), hourly);
  // An hour passes in six seconds.
  world = await startWorld({ sites: 2, speedUp: 600, work: false, policiesDir: folder });
  const others = [world.caretaker, await world.another({ work: false })];
  daemons = await Promise.all(
    others.map((caretaker) => startDaemon({ caretaker, roles: ['scheduler', 'worker'] })),
  );

  const { records } = world.caretaker;
  let runs = await records.runs.list({ policy: 'hourly', limit: 10 });
  while (runs.filter(({ finishedAt }) => finishedAt !== undefined).length < 2) {
    await world.nextEvent();
    runs = await records.runs.list({ policy: 'hourly', limit: 10 });
  }

  const moments = runs.map(({ scheduledFor }) => scheduledFor);
  expect(new Set(moments).size).toBe(moments.length);
  expect(moments.every((moment) => moment % 3_600_000 === 0)).toBe(true);
  const synced = world.sandbox.journal.effectsOf('syncSite').length;
  expect(synced).toBe(2 * runs.filter(({ status }) => status === 'succeeded').length);
}, 60_000);
