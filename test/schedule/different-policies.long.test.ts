/** Daemons as they are started, whose policy files differ. `policy-agreement.test.ts` has every decision. */
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openCaretaker } from '../../src/app/caretaker.ts';
import { startDaemon } from '../../src/app/daemon.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { until } from '../support/caretaker.ts';
import { keptLog } from '../support/quiet.ts';
import { worldOfTest } from '../support/world-of-test.ts';

const policy = (name: string, message: string) => `  - name: ${name}
    job: site-sync
    schedule: { cron: "* * * * *", overlap: allow }
    with: { message: ${message} }
`;

test('of two daemons with different policy files each names the difference, and the version that was changed last runs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'caretaker-policies-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // A daemon looks at what is due every five seconds of the machine, which is well within the minute that a run may be late.
  const world = await worldOfTest({ sites: 1, work: false, speedUp: 4 });
  const { caretaker, clock } = world;
  /** A daemon with one policy file of this age; returns its log. */
  const start = async (name: string, ageMs: number, policies: string[]) => {
    const policiesDir = join(folder, name);
    const file = join(policiesDir, 'policies.yaml');
    mkdirSync(policiesDir);
    writeFileSync(file, `policies:\n${policies.join('')}`);
    const changed = (clock.from - ageMs) / 1_000;
    utimesSync(file, changed, changed);
    const log = keptLog();
    const own = await openCaretaker({ settings: { ...caretaker.settings, policiesDir }, log, clock });
    const daemon = await startDaemon({ caretaker: own, roles: ['scheduler'] });
    onTestFinished(async () => {
      await daemon.stop();
      await own.close();
    });
    return () => new Set(log.lines.filter((line) => line.includes('differs between daemons')));
  };
  const { ledger, runs } = caretaker.records;
  /** The messages of the runs of a policy since a time, according to the policy stored with each. */
  const messagesSince = async (name: string, from: number) => {
    const times = await ledger.between(name, from, clock.now(), 100);
    const stored = await Promise.all(times.map(({ run = '' }) => runs.get(run)));
    return stored.map((run) => {
      const { options } = JSON.parse(run?.policyJson ?? '{}') as Partial<Policy>;
      return (options as { message?: string } | undefined)?.message;
    });
  };

  const old = await start('old', 3_600_000, [policy('shared', 'old'), policy('only-old', 'old')]);
  const fresh = await start('fresh', 60_000, [policy('shared', 'fresh'), policy('only-fresh', 'fresh')]);
  await until(world, () => [old, fresh].every((named) => named().size === 3));
  const agreed = clock.now();
  const messages = () =>
    Promise.all(['shared', 'only-old', 'only-fresh'].map((name) => messagesSince(name, agreed)));
  await until(world, async () => (await messages()).every(({ length }) => length > 0));

  expect((await messages()).map(([first]) => first)).toEqual(['fresh', 'old', 'fresh']);
});
