import { appendFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type PolicyWatcher, watchPolicies } from '../../src/policy/policy-watcher.ts';
import type { Settings } from '../../src/settings/settings.ts';
import { folderWith } from '../settings/folder.ts';
import { fastClock } from '../support/caretaker.ts';
import { heldClock } from '../support/held-clock.ts';
import { keptLog } from '../support/quiet.ts';
import { registry } from './tiny-job.ts';

const policies = (...names: string[]) =>
  `policies:\n${names.map((name) => `  - { name: ${name}, job: site-sync }\n`).join('')}`;

let dir: string;
let log: ReturnType<typeof keptLog>;
let watcher: PolicyWatcher;
let settings: Settings;

beforeEach(() => {
  dir = folderWith({ 'a.yaml': policies('one', 'two'), 'b.yaml': policies('three') });
  log = keptLog();
  settings = {
    policiesDir: dir,
    accounts: { default: {} },
    notifications: {},
    calendars: {},
  } as unknown as Settings;
  watcher = watchPolicies({ settings: () => settings, registry, clock: fastClock(40), log });
});
afterEach(() => watcher.close());

const write = (file: string, text: string) => writeFileSync(join(dir, file), text);
const names = () => watcher.policies().map(({ name }) => name);
/** What the log says once it says something new that matches. */
const said = (pattern: RegExp) =>
  vi.waitFor(() => {
    const line = log.lines.find((one) => pattern.test(one));
    if (line === undefined) throw new Error(`not said: ${pattern} in\n${log.lines.join('\n')}`);
    return line;
  }, 20_000);

test('a reload says in one sentence what was added, changed and removed', async () => {
  expect(log.lines[0]).toContain('policies loaded: 3 active');
  rmSync(join(dir, 'b.yaml'));
  write('c.yaml', policies('four'));
  write('a.yaml', policies('one', 'two').replace('name: two', 'limits: { concurrency: 3 }, name: two'));

  await said(/^info policies read again: added four; changed two; removed three \{/);
  expect(names()).toEqual(['one', 'two', 'four']);
});

test.each([
  ['emptied', ''],
  ['broken', 'policies: ]\n'],
])('of a file that is %s, everything stays active, with its times and the mistake', async (_, text) => {
  write('a.yaml', text);

  const line = await said(/^error .*a\.yaml:1:\d+: .*stays active: one \(read at .*Z\), two/);
  expect(line).not.toMatch(/\.[:;]/);
  expect(names()).toEqual(['three', 'one', 'two']);
  expect(watcher.kept().map(({ name }) => name)).toEqual(['one', 'two']);
  const [kept] = watcher.kept();
  expect(kept?.brokenSince).toBeGreaterThan(kept?.readAt ?? Number.NaN);
  expect(kept).toMatchObject({ file: join(dir, 'a.yaml'), error: expect.stringMatching(/^1:\d+: /) });

  write('a.yaml', policies('one', 'two'));
  await said(/a\.yaml has no errors now/);
  expect(watcher.kept()).toEqual([]);
});

test('of a new file that is broken, nothing is said to stay active', async () => {
  write('new.yaml', 'policies:\n  - { job: site-sync }\n');
  await said(/^error .*new\.yaml:2:5: "name" is missing; no previous version of it is known \{/);
});

test('a file that is renamed changes nothing, also while it is broken', async () => {
  renameSync(join(dir, 'b.yaml'), join(dir, 'renamed.yaml'));
  await said(/policies read again: none changed/);
  expect(names().sort()).toEqual(['one', 'three', 'two']);

  write('a.yaml', 'policies: ]\n');
  await said(/a\.yaml:1:.*stays active: one/);
  renameSync(join(dir, 'a.yaml'), join(dir, 'z.yaml'));
  await said(/z\.yaml:1:.*stays active: one/);
  expect(names().sort()).toEqual(['one', 'three', 'two']);
  expect(log.lines.join('\n')).not.toMatch(/added|removed/);
});

test('a policy that moved to another file and broke on the way stays active', async () => {
  write('a.yaml', policies('two'));
  write('c.yaml', policies('one').replace('site-sync', 'site-sink'));

  await said(/c\.yaml:2:\d+: There is no job "site-sink"; the previous version stays active: one/);
  expect(names().sort()).toEqual(['one', 'three', 'two']);
});

test('while the whole folder is away, everything stays active', async () => {
  renameSync(dir, `${dir}.away`);
  await said(/The policies folder does not exist or cannot be read; the previous version stays active: one/);
  renameSync(`${dir}.away`, dir);
  await said(/has no errors now/);
  await said(/"errors":0\}$/);
  expect(log.lines.join('\n')).not.toMatch(/added|removed/);
});

test('when every file is gone at once, everything stays active, and the folder is reported', async () => {
  rmSync(join(dir, 'a.yaml'));
  rmSync(join(dir, 'b.yaml'));

  await said(
    /^error .*The policies folder has no policy file .*the previous version stays active: one .*three/,
  );
  expect(names()).toEqual(['one', 'two', 'three']);
  expect(watcher.kept()[0]).toMatchObject({
    file: dir,
    error: expect.stringMatching(/^The policies folder/),
  });

  write('b.yaml', policies('three'));
  await said(/policies read again: removed one, two/);
  expect(watcher.findings()).toEqual([]);
});

test('a file that says that there are no policies removes the last ones', async () => {
  rmSync(join(dir, 'b.yaml'));
  write('a.yaml', 'policies: []\n');
  await said(/policies read again: removed one, two, three \{"policies":0,"errors":0\}/);
});

/** The watcher of a process that starts later, with what this one had active, as records hold it. */
async function restarted() {
  const last = JSON.parse(JSON.stringify(watcher.last()));
  await watcher.close();
  log.lines.length = 0;
  watcher = watchPolicies({ settings: () => settings, registry, clock: fastClock(40), log, last });
}

test('after a restart, the last version of a broken file is active, not that of a removed file', async () => {
  const readAt = watcher.last().find(({ name }) => name === 'one')?.readAt;
  write('a.yaml', policies('one', 'two').replace('two, job', 'two, jobb'));
  rmSync(join(dir, 'b.yaml'));
  await restarted();

  expect(names()).toEqual(['one', 'two']);
  expect(watcher.kept()).toMatchObject([{ name: 'two', file: join(dir, 'a.yaml'), readAt }]);
  await said(/^error .*a\.yaml:3:\d+: .*; the previous version stays active: two \(read at /);

  write('a.yaml', policies('one'));
  await said(/policies read again: removed two/);
});

test.each([
  ['is missing', () => rmSync(dir, { recursive: true })],
  [
    'is empty',
    () => {
      for (const file of ['a.yaml', 'b.yaml']) rmSync(join(dir, file));
    },
  ],
])('after a restart, all policies are active while the folder %s', async (_, lose) => {
  lose();
  await restarted();
  expect(names().sort()).toEqual(['one', 'three', 'two']);
  expect(watcher.kept()).toHaveLength(3);
});

test('a stored version that this release cannot read is left out', async () => {
  const last = watcher.last().map((one) => ({ ...one, policy: { name: one.name } }));
  write('a.yaml', 'policies: ]\n');
  const other = watchPolicies({ settings: () => settings, registry, clock: fastClock(40), log, last });
  expect(other.policies().map(({ name }) => name)).toEqual(['three']);
  await other.close();
});

test('a file that is still being written is not read, however long that takes', async () => {
  const clock = heldClock();
  await watcher.close();
  watcher = watchPolicies({ settings: () => settings, registry, clock, log });
  write('c.yaml', policies('four'));
  for (let second = 0; second < 70; second += 1) {
    await clock.advance(1_000);
    expect(names()).toEqual(['one', 'two', 'three']);
    appendFileSync(join(dir, 'c.yaml'), '#');
  }
  expect(log.lines.join('\n')).toMatch(/warn the policy files have been changing for a minute/);

  await clock.advance(8_000);
  expect(names()).toEqual(['one', 'two', 'three', 'four']);
});

test('when calendars and notifications change, the policies that name them are read again', async () => {
  write(
    'c.yaml',
    policies('resting').replace(' }', ', schedule: { cron: "0 2 * * *", blackout: [closed] } }'),
  );
  await said(/There is no calendar "closed"/);
  settings = { ...settings, calendars: { closed: [{ weekday: 'sunday' }] } };
  await said(/policies read again: added resting/);
  settings = { ...settings, calendars: { closed: [{ weekday: 'monday' }] } };
  await said(/policies read again: changed resting/);

  write('d.yaml', policies('told').replace(' }', ', notify: [{ to: ops }] }'));
  await said(/There is no notification "ops"/);
  settings = { ...settings, notifications: { ops: { name: 'ops', webhook: { url: 'http://h.example' } } } };
  await said(/policies read again: added told/);
});

test('while a matrix has errors, all policies that it made stay active', async () => {
  const file = (matrix: string) =>
    `policies: [{ name: m, job: site-sync, matrix: ${matrix}, with: { message: "\${{ matrix.tag }}" } }]\n`;
  write('v.yaml', file('{ tag: [a, b] }'));
  await said(/policies read again: added m-a, m-b/);

  write('v.yaml', file('{ tag: [] }'));

  await said(/v\.yaml:1:\d+: "tag" must have at least 1 entry; the previous version stays active: m-a .*m-b/);
});

test('of a file with a chain, a removed predecessor is gone, and the policy that follows it is reported', async () => {
  const after = 'name: two, schedule: { after: { policy: one } }';
  write('a.yaml', policies('one', 'two').replace('name: two', after));
  await said(/^info policies read again: changed two/);

  write('a.yaml', policies('other', 'two').replace('name: two', after));

  const line = await said(/^error .*There is no policy "one", so two is not scheduled/);
  expect(line).toMatch(/the previous version stays active: two \(read at [^)]*\) \{/);
  expect(names().sort()).toEqual(['other', 'three', 'two']);
  expect(watcher.kept().map(({ name }) => name)).toEqual(['two']);
});
