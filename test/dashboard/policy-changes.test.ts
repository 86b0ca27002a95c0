/** The definition of a policy and its changes, from the files of a real daemon. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../src/app/daemon.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';
import { sessionOf, textOf } from './world.ts';

let world: World;
let daemon: Daemon;
let folder: string;
let cookie = '';

const write = (limits: string) =>
  writeFileSync(
    join(folder, 'sync.yaml'),
    `# Every night\npolicies:\n  - name: sync\n    job: site-sync\n    with: { message: "<b>Nightly</b>" }\n    limits: ${limits}\n`,
  );

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'caretaker-policies-'));
  write('{ concurrency: 1 }');
  world = await startWorld({ sites: 1, seed: 3, work: false, policiesDir: folder });
  daemon = await startDaemon({ caretaker: world.caretaker, roles: ['dashboard'] });
  await until(
    world,
    async () => (await world.caretaker.records.presence.running(world.clock.now())).length > 0,
  );
  cookie = sessionOf(await fetch(daemon.dashboard?.signInLink ?? '', { redirect: 'manual' }));
});
afterEach(async () => {
  await daemon.stop();
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
});

const look = async (path: string) => {
  const { url = '' } = daemon.dashboard ?? {};
  const html = await (await fetch(url + path, { headers: { cookie, accept: 'text/html' } })).text();
  return { html, text: textOf(html) };
};
const versions = () => world.caretaker.records.versions.all('sync');

test('the definition shows every key with its colours, marks defaults, and names the file and the line', async () => {
  const { html, text } = await look('/policies/sync/definition');
  expect(text).toMatch(/From \S*sync\.yaml:3 , with what/);
  expect(html).toContain('<span class="key">max_targets</span>');
  expect(html).toContain('<span class="comment"># default</span>');
  expect(text).toMatch(/concurrency : 1 max_targets : 1000 # default/);
  expect(html).not.toContain('<b>Nightly');
});

test('a changed file is a version, with the keys that changed from what to what', async () => {
  await until(world, async () => (await versions()).length === 1);
  const first = await look('/policies/sync/changes');
  expect(first.text).toContain('The first version that is stored');
  expect(first.text).toContain('is not known.');

  write('{ concurrency: 5, stop_after_failures: 10% }');
  await until(world, async () => (await versions()).length === 2);

  const { text } = await look('/policies/sync/changes');
  expect(text).toMatch(/2 keys changed version \w+, from \S*sync\.yaml:3/);
  expect(text).toContain('limits.concurrency from 1 to 5');
  expect(text).toContain('limits.stop_after_failures added 10%');
  expect(text).toContain('Who edited the file is not known here');
});

test('another daemon with the same files adds no version', async () => {
  await until(world, async () => (await versions()).length === 1);
  const other = await startDaemon({ caretaker: world.caretaker, roles: ['worker'] });
  write('{ concurrency: 9 }');
  await until(world, async () => (await versions()).length > 1);
  await other.stop();
  expect(await versions()).toHaveLength(2);
});
