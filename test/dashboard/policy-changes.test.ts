/** The definition of a policy and its changes, from the files of a real daemon. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDaemon } from '../../src/app/daemon.ts';
import { until } from '../support/caretaker.ts';
import { type DaemonWorld, startDaemonWorld } from './daemon-world.ts';

const policies = (limits: string) =>
  `# Every night\npolicies:\n  - name: sync\n    job: site-sync\n    with: { message: "<b>Nightly</b>" }\n    limits: ${limits}\n`;

/** The tests follow each other: each changes the file. */
let daemon: DaemonWorld;
beforeAll(async () => {
  daemon = await startDaemonWorld({ sites: 1, seed: 3, policies: () => policies('{ concurrency: 1 }') });
});
afterAll(() => daemon.stop());

const versions = () => daemon.world.caretaker.records.versions.all('sync');
const isVersion = (count: number) => until(daemon.world, async () => (await versions()).length >= count);

test('the definition shows every key with its colours, marks defaults, and names the file and the line', async () => {
  const { html, text } = await daemon.look('/policies/sync/definition');
  expect(text).toMatch(/From \S*policies\.yaml:3 , with what/);
  expect(html).toContain('<span class="key">max_targets</span>');
  expect(html).toContain('<span class="comment"># default</span>');
  expect(text).toMatch(/concurrency : 1 max_targets : 1000 # default/);
  expect(html).not.toContain('<b>Nightly');
});

test('a changed file is a version, with the keys that changed from what to what', async () => {
  await isVersion(1);
  const first = await daemon.look('/policies/sync/changes');
  expect(first.text).toContain('The first version that is stored');
  expect(first.text).toContain('is not known.');

  daemon.write(policies('{ concurrency: 5, stop_after_failures: 10% }'));
  await isVersion(2);

  const { text } = await daemon.look('/policies/sync/changes');
  expect(text).toMatch(/2 keys changed version \w+, from \S*policies\.yaml:3/);
  expect(text).toContain('limits.concurrency from 1 to 5');
  expect(text).toContain('limits.stop_after_failures added 10%');
  expect(text).toContain('Who edited the file is not known here');
});

test('another daemon with the same files adds no version', async () => {
  const other = await startDaemon({ caretaker: daemon.world.caretaker, roles: ['worker'] });
  daemon.write(policies('{ concurrency: 9 }'));
  await isVersion(3);
  await other.stop();
  expect(await versions()).toHaveLength(3);
});
