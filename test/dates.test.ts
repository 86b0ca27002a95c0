import { expect, test } from 'vitest';
import { localTimezone, timezoneFault } from '../src/dates.ts';

test('a time zone has to have a name that exists', () => {
  expect(['UTC', 'Europe/Berlin', 'America/New_York'].map(timezoneFault)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(
    ['Europe/Atlantis', '+02:00', '', 'CET/CEST', 'BST', 'pst'].filter(
      (zone) => timezoneFault(zone) === undefined,
    ),
  ).toEqual([]);
});

test('a machine whose time zone has no name counts in UTC', () => {
  // What Node answers with TZ='' and with TZ=Foo/Bar.
  expect(['Etc/Unknown', '', 'Europe/Berlin'].map((name) => localTimezone(name))).toEqual([
    'UTC',
    'UTC',
    'Europe/Berlin',
  ]);
});
