import { expect, test } from 'vitest';
import { offsetAt } from '../../src/dates.ts';
import { timezoneHint, timezoneNameFault } from '../../src/yaml/timezones.ts';

const zoneMeant = (text: string): string | undefined =>
  /^did you mean ([^ ?,]+)/.exec(timezoneHint(text) ?? '')?.[1];

test.each([
  ['GMT+2', 'did you mean Etc/GMT-2, 2 hours ahead of UTC (such names have the sign reversed)?'],
  ['UTC-5', 'did you mean Etc/GMT+5, 5 hours behind UTC (such names have the sign reversed)?'],
  ['UTC+5:30', 'did you mean Asia/Calcutta, 5:30 hours ahead of UTC?'],
  ['Z', 'did you mean UTC?'],
  ['UTC+0', 'did you mean UTC?'],
  ['JST', 'did you mean Asia/Tokyo?'],
])('The hint for the time zone %s: %s', (text, hint) => {
  expect(timezoneHint(text)).toBe(hint);
});

test.each(
  ['', 'GMT', 'UTC', 'UTC ', 'utc', 'UT', 'Etc/UTC'].flatMap((prefix) =>
    [-12, -9, -3, 1, 2, 10, 14].map((hours) => {
      const sign = hours < 0 ? '-' : '+';
      const two = String(Math.abs(hours)).padStart(2, '0');
      const forms = [`${sign}${Math.abs(hours)}`, `${sign}${two}:00`, `${sign}${two}00`, `${sign}${two}`];
      return [hours, forms.map((form) => prefix + form)] as const;
    }),
  ),
)('An offset of %i hours gets the zone with that offset: %j', (hours, texts) => {
  for (const text of texts)
    expect([text, offsetAt(zoneMeant(text) ?? '', 0)]).toEqual([text, hours * 3_600_000]);
});

test.each([
  ['PST', 'PDT', 'EDT', 'JST', 'KST', 'AEST', 'CEST', 'MSK', 'SGT', 'NZDT', 'sast', 'Europe/CEST'],
  ['CST', 'IST', 'BST', 'AST', 'GST', 'CETT', 'EETT', 'ESTT', 'EST6EDT', 'PST9PDT', 'GMT+99', 'UTC+14:30'],
])('No abbreviation is taken for another one: %s, %s, %s, ...', (...texts) => {
  for (const text of texts) {
    expect([text, timezoneNameFault(text)]).not.toEqual([text, undefined]);
    expect([text, zoneMeant(text) ?? 'Some/City']).toEqual([text, expect.stringContaining('/')]);
    expect([text, zoneMeant(text)]).not.toEqual([text, expect.stringMatching(/Etc/)]);
  }
});

/** Places that are no names of zones, most of them near to the name of another city, with their time in July. */
const places: [hours: number, names: string[]][] = [
  [5.5, ['Asia/Delhi', 'Asia/Mumbai', 'India']],
  [8, ['Asia/Beijing', 'Asia/China', 'China']],
  [9, ['Asia/Osaka', 'Korea']],
  [-5, ['America/Houston', 'Peru', 'Central']],
  [
    -7,
    ['America/Seattle', 'America/Salem', 'America/San_Francisco', 'Pacific Standard Time', 'Pacific', 'West'],
  ],
  [-4, ['America/Boston', 'America/Miami', 'America/Washington', 'Eastern', 'East']],
  [2, ['Europe/Munich', 'Europe/Geneva', 'Europe/Barcelona', 'Serbia', 'Austria', 'W. Europe Standard Time']],
  [1, ['Europe/Manchester', 'Birmingham']],
  [0, ['Africa/Dakkar', 'Mali']],
  [5.75, ['Nepal']],
  [4, ['Oman', 'Georgia']],
];
test.each(places)(
  'A hint for a place with UTC%d in July is a zone with that time, or none: %j',
  (hours, names) => {
    for (const place of names) {
      const zone = zoneMeant(place);
      if (zone !== undefined)
        expect([place, zone, offsetAt(zone, Date.UTC(2026, 6, 1)) / 3_600_000]).toEqual([place, zone, hours]);
    }
  },
);

test.each([
  ['berlin', 'Europe/Berlin'],
  ['New York', 'America/New_York'],
  ['new-york', 'America/New_York'],
  ['port-au-prince', 'America/Port-au-Prince'],
  ['Europa/Berlin', 'Europe/Berlin'],
  ['Eruope/Berln', 'Europe/Berlin'],
  ['America/New_Yrok', 'America/New_York'],
  ['Asia/Tokio', 'Asia/Tokyo'],
  ['etc/gmt+2', 'Etc/GMT+2'],
  ['US/Easter', 'US/Eastern'],
])('%s is read as %s', (text, zone) => {
  expect(zoneMeant(text)).toBe(zone);
});
