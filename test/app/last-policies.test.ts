/** What was active stays active: after a restart with broken files or without the folder, and with several daemons. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startDaemon } from '../../src/app/daemon.ts';
import { lastPoliciesTo } from '../../src/app/policy-versions.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { folderWith } from '../settings/folder.ts';
import { aPolicy } from '../support/builders.ts';
import { until, type World } from '../support/caretaker.ts';
import { worldOfTest } from '../support/world-of-test.ts';

const text = (name: string) => `policies: [{ name: ${name}, job: site-sync }]\n`;

async function start(world: World) {
  const daemon = await startDaemon({ caretaker: world.caretaker, roles: ['scheduler', 'dashboard'] });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= daemon.stop();
    return stopped;
  };
  onTestFinished(stop);
  const ready = async () => (await fetch(`${daemon.dashboard?.url}/readyz`)).text();
  return { stop, ready };
}

// Several starts of a daemon on one Redis: only a real start reads what an earlier one stored.
test('a restarted daemon has the last policies of a broken file and of a lost folder, and reports both', async () => {
  const dir = folderWith({ 'a.yaml': text('one'), 'b.yaml': text('two') });
  const world = await worldOfTest({ sites: 1, work: false, policiesDir: dir });
  const { records, clock } = world.caretaker;
  const stored = async () => (await records.lastPolicies.names()).sort().join();
  const kept = async () =>
    (await records.presence.running(clock.now())).flatMap(({ keeps = [] }) => keeps.map(({ name }) => name));
  const first = await start(world);
  await until(world, async () => (await stored()) === 'one,two');
  await first.stop();

  writeFileSync(join(dir, 'a.yaml'), 'policies: ]\n');
  rmSync(join(dir, 'b.yaml'));
  const second = await start(world);
  await until(world, async () => (await stored()) === 'one');
  expect(await kept()).toEqual(['one']);
  expect(await second.ready()).toMatch(/warning: \S*a\.yaml has an error; active as before: one/);
  await second.stop();

  renameSync(dir, `${dir}.away`);
  onTestFinished(() => rmSync(`${dir}.away`, { recursive: true }));
  const third = await start(world);
  await until(world, async () => (await records.alerts.names('policy-file')).includes(`policy-file ${dir}`));
  expect(await stored()).toBe('one');
  expect(await third.ready()).toContain(`warning: ${dir} has an error; active as before: one`);
  expect(world.log.lines.join('\n')).toMatch(
    /error .*The policies folder does not exist or cannot be read; the previous version stays active: one/,
  );
});

test('of daemons with different files each stores what it fires, and only what none has is forgotten', async () => {
  const { caretaker } = await worldOfTest({ sites: 1, work: false });
  const { records } = caretaker;
  const daemon = (own: readonly Policy[], names: readonly string[]) =>
    lastPoliciesTo(
      records,
      {
        last: () =>
          own.map((policy) => ({
            ...{ name: policy.name, file: 'a.yaml', policy, hash: policy.hash, readAt: 1, changedAt: 2 },
          })),
      },
      { active: () => own.filter(({ name }) => name !== 'older'), names: () => new Set(names) },
    );
  const [a, b, older] = ['a', 'b', 'older'].map((name) => aPolicy({ name }));
  if (!a || !b || !older) throw new Error('no policies');
  await daemon([a, older], ['a', 'b', 'older'])();
  const other = daemon([b], ['a', 'b', 'older']);
  await other();
  expect((await records.lastPolicies.names()).sort()).toEqual(['a', 'b']);

  await daemon([a], ['a'])();
  expect(await records.lastPolicies.names()).toEqual(['a']);
  await other();
  const stored = await records.lastPolicies.all();
  expect(Object.fromEntries(stored.map(({ name, policy }) => [name, policy]))).toEqual({ a, b });
});
