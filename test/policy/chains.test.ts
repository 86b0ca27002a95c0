import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { chainFault, chainsOf, linksByName } from '../../src/policy/chains.ts';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { folderWith } from '../settings/folder.ts';
import { told } from '../settings/load.ts';
import { mistakesIn, policiesIn, read } from './p.ts';
import { registry } from './tiny-job.ts';

const HOUR = 3_600_000;

const entry = (name: string, schedule = '') =>
  `  - name: ${name}\n    job: site-sync\n${schedule && `    schedule: ${schedule}\n`}`;
const file = (...entries: string[]) => `policies:\n${entries.join('')}`;

/** The errors of several files, each with its file. */
function load(files: Record<string, string>) {
  const { findings, ...rest } = read(files);
  return { ...rest, findings: findings.map((one) => `${basename(one.file)}:${told(one)}`) };
}

/** Of one policy beside `sync`, the mistakes in its schedule; places are counted from the schedule. */
const mistakesOf = (schedule: string) =>
  mistakesIn(file(entry('sync'), entry('check', schedule))).map((one) =>
    one.replace(/^6:(\d+)/, (_, column: string) => String(Number(column) - 14)),
  );

test('a policy follows another after its success, within a day, unless it says otherwise', () => {
  const policies = policiesIn(
    file(
      entry('sync', '{ cron: "0 2 * * *" }'),
      entry('check', '{ after: { policy: sync } }'),
      entry(
        'report',
        '{ after: { policy: check, status: [succeeded, partial], within: 6h }, timezone: Europe/Berlin, jitter: 5m, blackout: [sunday] }',
      ),
    ),
  );

  expect(policies.map(({ schedule }) => schedule?.after)).toEqual([
    undefined,
    { policy: 'sync', status: ['succeeded'], withinMs: 24 * HOUR },
    { policy: 'check', status: ['succeeded', 'partial'], withinMs: 6 * HOUR },
  ]);
  expect(policies[2]?.schedule).toMatchObject({ cron: [], timezone: 'Europe/Berlin', jitterMs: 300_000 });
});

test.each([
  [
    '{ cron: "0 2 * * *", after: { policy: sync } }',
    '29 "after" cannot be used together with "cron". remove one of the two',
  ],
  [
    '{ after: { policy: sync }, catchup: 2h }',
    '37 "catchup" does not apply to "after". use "within" under "after"',
  ],
  ['{ after: { policy: sync }, dst: { gap: skip } }', '33 "dst" does not apply to "after".'],
  ['{ after: { status: [failed] } }', '10 "policy" is missing.'],
  ['{ after: sync }', '10 "after" must be a map, such as { policy: nightly-sync }.'],
  [
    '{ after: { policy: sync, status: [skipped] } }',
    '35 Entry 1 of "status" must be succeeded, partial, failed, stopped or cancelled. did you mean stopped?',
  ],
  ['{ after: { policy: sync, status: [] } }', '34 "status" must have at least 1 entry.'],
  [
    '{ after: { policy: sync, within: 5s } }',
    '34 "within" must be a duration such as 30s, 10m, 2h, 1h30m or 90d of at least 1m.',
  ],
  ['{ after: { policy: sync, withn: 6h } }', '26 "withn" is not a known key. did you mean within?'],
  [
    '{ after: { policy: sync }, catchup: later }',
    '37 "catchup" must be a duration such as 30s, 10m, 2h, 1h30m or 90d.',
  ],
  [
    '{ after: { policy: snyc } }',
    '20 There is no policy "snyc", so check is not scheduled. did you mean sync?',
  ],
])('%s is one mistake', (schedule, mistake) => {
  expect(mistakesOf(schedule)).toEqual([mistake]);
});

test('who follows each other in a loop is shown the loop, in every file that is part of it', () => {
  const { policies, findings, broken } = load({
    'a.yaml': file(entry('a', '{ after: { policy: c } }'), entry('own', '{ after: { policy: own } }')),
    'b.yaml': file(entry('b', '{ after: { policy: a } }'), entry('d', '{ after: { policy: a } }')),
    'c.yaml': file(entry('c', '{ after: { policy: b } }')),
  });

  expect(findings).toEqual([
    'a.yaml:4:34 These policies start each other in a loop: a -> b -> c -> a.',
    'a.yaml:7:34 These policies start each other in a loop: own -> own.',
    'b.yaml:4:34 These policies start each other in a loop: b -> c -> a -> b.',
    'c.yaml:4:34 These policies start each other in a loop: c -> a -> b -> c.',
  ]);
  expect(broken.map(({ name }) => name)).toEqual(['a', 'own', 'b', 'c']);
  // Its own chain is correct: it fires once the loop is corrected.
  expect(policies.map(({ name }) => name)).toEqual(['d']);
});

test('a predecessor with errors is an error of its own file only', () => {
  const { findings, policies } = load({
    'a.yaml': file(entry('sync', '{ cron: "0 2 * * *", jiter: 5m }')),
    'b.yaml': file(entry('check', '{ after: { policy: sync } }')),
  });
  expect(findings).toEqual(['a.yaml:4:36 "jiter" is not a known key. did you mean jitter?']);
  expect(policies.map(({ name }) => name)).toEqual(['check']);
});

test('one file checked alone may follow a policy of another file of the folder', () => {
  const dir = folderWith({
    'a.yaml': file(entry('sync')),
    'b.yaml': file(entry('check', '{ after: { policy: sync } }')),
    'c.yaml': file(entry('x', '{ after: { policy: y } }')),
    'd.yaml': file(entry('y', '{ after: { policy: x } }')),
  });
  const alone = (name: string) =>
    loadPolicies({ dir, files: [join(dir, name)], registry }).findings.map(({ message }) => message);
  expect(alone('b.yaml')).toEqual([]);
  expect(alone('c.yaml')).toEqual(['These policies start each other in a loop: x -> y -> x.']);
});

test('a policy that leads into a loop of others has no fault of its own', () => {
  const links = linksByName([
    { name: 'a', after: 'b' },
    { name: 'b', after: 'a' },
    { name: 'c', after: 'a' },
    { name: 'd', after: 'gone' },
  ]);
  const faultOf = (name: string) => chainFault(links.get(name) ?? { name }, links);
  expect(faultOf('a')).toEqual({ is: 'loop', names: ['a', 'b', 'a'] });
  expect(faultOf('c')).toBeUndefined();
  expect(faultOf('d')).toEqual({ is: 'missing', policy: 'gone' });
});

test('chains are trees below the policies that follow none', () => {
  const policies = policiesIn(
    file(
      entry('report', '{ after: { policy: check } }'),
      entry('sync', '{ cron: "0 2 * * *" }'),
      entry('check', '{ after: { policy: sync } }'),
      entry('clean', '{ after: { policy: sync } }'),
    ),
  );
  const names = (nodes: ReturnType<typeof chainsOf<(typeof policies)[number]>>): unknown[] =>
    nodes.map(({ policy, followers }) => [policy.name, ...names(followers)]);
  expect(names(chainsOf(policies))).toEqual([['sync', ['check', ['report']], ['clean']]]);
});
