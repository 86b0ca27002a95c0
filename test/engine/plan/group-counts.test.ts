import { expect, test } from 'vitest';
import { GroupCounts, groupsOf, withPlaces } from '../../../src/engine/plan/owners.ts';

test('a target counts for its client and each of its tags; one without has no limit', () => {
  const acme = { id: '7', names: ['ACME'] };
  const [gold, silver] = [
    { id: '1', names: ['Gold'] },
    { id: '2', names: [] },
  ];
  const both = { perClient: { maxTargets: 1 }, perTag: { concurrency: 2 } };
  const groups = groupsOf(both, { client: acme, tags: [gold, silver] });
  expect(groups.map(({ label }) => label)).toEqual(['the client "ACME"', 'the tag "Gold"', 'the tag "2"']);
  expect(withPlaces(both, groups).map(({ kind }) => kind)).toEqual(['tag', 'tag']);
  expect(groupsOf(both, { client: null, tags: [] })).toEqual([]);
  expect(groupsOf(both, {}).map(({ label }) => label)).toEqual(['an unknown client', 'an unknown tag']);
  const counts = new GroupCounts(both);
  expect(counts.add(groups)).toBeUndefined();
  expect(counts.add(groupsOf(both, { client: acme, tags: [] }))).toMatch(/the client "ACME"/);
});
