/** Conditions that no candidate can meet: a warning when the policy is loaded. */
import { expect, test } from 'vitest';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { entryWith, policyWith, read } from './p.ts';

function load(where: string) {
  const { policies, findings, warnings } = read(policyWith(`select:\n  where: >-\n    ${where}`));
  expect(findings).toEqual([]);
  expect(policies).toHaveLength(1);
  return warnings.map(({ message }) => message);
}

const exclude = (one: string, other: string) => [
  `The condition can never hold: \`${one}\` and \`${other}\` exclude each other.`,
];

test.each([
  ['site.url == "a"', 'site.url == "b"'],
  ['site.url == "a"', 'site.url != "a"'],
  ['site.connection.status == "connected"', '"disconnected" == site.connection.status'],
  ['site.client.id in ["1", "2"]', 'site.client.id == "3"'],
  ['site.locked', '!site.locked'],
  ['site.locked', 'site.locked == false'],
  ['now - site.sync.last_sync_at > duration("72h")', 'now-site.sync.last_sync_at < duration("24h")'],
  [
    'site.created_at > timestamp("2026-06-01T00:00:00Z")',
    'site.created_at <= timestamp("2026-01-01T00:00:00Z")',
  ],
  ['site.tags.size() > 3', 'site.tags.size() < 2'],
  ['site.url == "a"', 'site.url.startsWith("b")'],
])('%s and %s are reported', (one, other) => {
  expect(load(`${one} && site.title != "x" && ${other}`)).toEqual(exclude(one, other));
});

test('a comparison that no value of a closed list meets is reported alone', () => {
  expect(load('site.connection.status.startsWith("off")')).toEqual([
    'The condition can never hold: `site.connection.status.startsWith("off")` is false for every value that the field has.',
  ]);
});

test('a contradiction is found inside exists, and in all branches of an alternative', () => {
  expect(load('site.tags.exists(t, t.name == "a" && t.name == "b")')).toEqual(
    exclude('t.name == "a"', 't.name == "b"'),
  );
  expect(load('(site.url == "a" && site.url == "b") || (site.locked && !site.locked)')).toHaveLength(1);
});

test('a condition over a join that cannot be read is not judged', async () => {
  const select = '{ from: listSites, join: { reports: { list: listReports } }, where: reports.size() == 0 }';
  const { findings, warnings } = read(entryWith(`job: check\nselect: ${select}`), {
    registry: await loadJobs(),
  });
  expect(findings).toMatchObject([{ message: '"on" is missing.' }]);
  expect(warnings).toEqual([]);
});

test.each([
  'site.url == "a" || site.url == "b"',
  'site.url == "a" && site.title == "b"',
  'site.tags.exists(t, t.name == "a") && site.tags.exists(t, t.name == "b")',
  'now - site.sync.last_sync_at > duration("24h") && now - site.sync.last_sync_at < duration("72h")',
  'site.connection.status != "connected" && site.connection.status != "disconnected"',
  'site.url.contains("a b") && site.url.contains("ab")',
  'site.tags.size() >= 2 && site.tags.size() <= 2',
  'site.locked && (site.url == "a" || site.url == "b")',
  '(site.url == "a" && site.url == "b") || site.locked',
  '!(site.url == "a" && site.url == "b")',
])('%s may hold', (where) => {
  expect(load(where)).toEqual([]);
});
