import { expect, test } from 'vitest';
import {
  activeVersion,
  type DaemonPolicies,
  differencesOf,
  formatDifference,
} from '../../src/schedule/versions.ts';

type Versions = Record<string, [hash: string, changedAt: number]>;

const daemon = (id: string, versions: Versions, fires = true): DaemonPolicies => ({
  id,
  host: id,
  pid: 1,
  fires,
  versions: new Map(Object.entries(versions).map(([name, [hash, changedAt]]) => [name, { hash, changedAt }])),
});

test('every daemon selects the version whose file was changed last, and the same one of two of the same time', () => {
  const a = daemon('a', { nightly: ['old', 1_000], equal: ['x', 1_000] });
  const b = daemon('b', { nightly: ['new', 2_000], equal: ['y', 1_000] });
  expect(activeVersion('nightly', [a, b])).toBe('new');
  expect(activeVersion('nightly', [b, a])).toBe('new');
  expect(activeVersion('equal', [a, b])).toBe(activeVersion('equal', [b, a]));
});

test('a daemon without the scheduler role does not decide the active version, but its difference is named', () => {
  const scheduler = daemon('a', { nightly: ['old', 1_000] });
  const dashboard = daemon('b', { nightly: ['new', 2_000] }, false);
  expect(activeVersion('nightly', [scheduler, dashboard])).toBe('old');
  expect(differencesOf([scheduler, dashboard]).map(formatDifference)).toEqual([
    'the policy nightly differs between daemons: the version of a (pid 1) is active, b (pid 1) has another version',
  ]);
  expect(differencesOf([daemon('c', {}, false), dashboard]).map(formatDifference)).toEqual([
    'the policy nightly differs between daemons: no scheduler has it, b (pid 1) has another version, c (pid 1) does not have it',
  ]);
});

test('daemons that have read the same policies have no differences, whatever the times of their files', () => {
  const daemons = [daemon('a', { nightly: ['same', 1_000] }), daemon('b', { nightly: ['same', 9_000] })];
  expect(differencesOf(daemons)).toEqual([]);
  expect(differencesOf([])).toEqual([]);
});
