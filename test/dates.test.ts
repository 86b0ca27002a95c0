import { expect, test } from 'vitest';
import { timezoneFault } from '../src/dates.ts';

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
