import { expect, test } from 'vitest';
import { cronFault } from '../../src/yaml/cron.ts';

test.each([
  '0 2 L * *',
  '0 2 l 2 *',
  '0 2 L,15 * *',
  '0 2 15W * *',
  '0 2 1,15W * *',
  '0 2 LW * *',
  '0 2 LW JAN,JUL *',
  '0 2 * * 5L',
  '0 2 * * FRIL',
  '0 2 * * FRI#L',
  '0 2 * * fri#l',
  '0 2 * * MON#2',
  '0 2 * * 1#5',
  '0 2 * * 1,3#2',
  '0 2 * JUL,APR *',
  '0 2 * * WED,SUN',
  '*/5 0-6 * * *',
])('%s can be scheduled', (cron) => {
  expect(cronFault(cron)).toBeUndefined();
});

test.each([
  ['0 2 L-3 * *', 'has "L-3": L is the last day of the month, and no other day is counted from it'],
  ['0 2 L,LW * *', 'has LW in a list: it has to stand alone'],
  ['0 2 W * *', 'has "W": W follows one day of the month, such as 15W, or L as in LW'],
  ['0 2 1-5W * *', 'has "1-5W": W follows one day of the month, such as 15W, or L as in LW'],
  ['0 2 MON#2 * *', 'has "MON#2" as a day of month: # is for the day of week (fifth field), such as MON#2'],
  [
    '0 2 * * L',
    'has L alone as the day of week: it follows a day, such as 5L or FRI#L, the last Friday of a month',
  ],
  ['0 2 * * 5W', 'has "5W" as the day of week: W is for the day of month (third field)'],
  [
    '0 2 * * MON#6',
    'has "MON#6": # stands between one day of week and a number from 1 to 5, or L, such as MON#2 or FRI#L',
  ],
  [
    '0 2 * * MON-FRI#2',
    'has "MON-FRI#2": # stands between one day of week and a number from 1 to 5, or L, such as MON#2 or FRI#L',
  ],
  [
    'L 2 * * *',
    'has "L" in a wrong field: L, W and # are for the day of month (third) and the day of week (fifth)',
  ],
  [
    '0 15W * * *',
    'has "15W" in a wrong field: L, W and # are for the day of month (third) and the day of week (fifth)',
  ],
  ['0 2 15 * MON#2', 'never fires: there is no such day'],
  ['0 0 30 2 *', 'never fires: there is no such day'],
  ['0 0 1 13 *', 'has "13" as the month: it goes from 1 to 12'],
  ['0 0 1 0 *', 'has "0" as the month: it goes from 1 to 12'],
  ['0 0 1 -1 *', 'has "-1" as the month: it goes from 1 to 12'],
  ['0 0 1,32 * *', 'has "32" as the day of month: it goes from 1 to 31'],
  ['0,60 * * * *', 'has "60" as the minute: it goes from 0 to 59'],
  ['0 2-24 * * *', 'has "24" as the hour: it goes from 0 to 23'],
  ['0 0 * * 8', 'has "8" as the day of week: it goes from 0 to 7, both Sunday'],
  ['TZ=Europe/Berlin 0 2 * * *', 'does not hold the time zone: write "timezone: Europe/Berlin" beside it'],
  ['CRON_TZ=UTC 0 2 * * *', 'does not hold the time zone: write "timezone: UTC" beside it'],
  ['@daily', 'has five fields: write @daily as 0 0 * * *'],
  ['@reboot', 'has five fields, such as 0 2 * * * or */5 * * * *: there is no @reboot'],
  ['02:30', 'has five fields: write 02:30 as 30 2 * * *'],
  ['H H * * *', 'has "H" as the minute: write a minute; "jitter" spreads the runs'],
  ['0~30 2 * * *', 'has "0~30" as the minute: write a minute; "jitter" spreads the runs'],
  ['0 0 * * sunday', 'has "sunday" as the day of week: write SUN'],
  ['0 0 * * mon-Friday', 'has "Friday" as the day of week: write FRI'],
  ['0 0 1 september *', 'has "september" as the month: write SEP'],
  ['0 22-4 * * *', 'has the range "22-4" as the hour, which ends before it begins: write 22-23,0-4'],
  [
    '0 2 * * FRI-MON',
    'has the range "FRI-MON" as the day of week, which ends before it begins: write 5-6,0-1',
  ],
  ['0 2 * dec-jan *', 'has the range "dec-jan" as the month, which ends before it begins: write 12,1'],
  ['5/15 * * * *', 'has "5/15": a step follows * or a range, such as 5-59/15'],
  ['*/90 * * * *', 'has "*/90": a step goes from 1 to 60'],
  ['? * * * *', 'has "?" as the minute: write *'],
  ['0 2 1,,2 * *', 'has an empty entry in "1,,2", the day of month'],
  [
    '0 2 * * MON FRI',
    'must have five fields (minute, hour, day of month, month, day of week), not 6; a list is written with commas: MON,FRI',
  ],
  [
    '0 2am * * *',
    'has "2am" as the hour: it takes numbers from 0 to 23, lists (1,3), ranges (1-3) and steps (*/2)',
  ],
  [' ', 'is empty: it has five fields, such as 0 2 * * *'],
])('%s %s', (cron, fault) => {
  expect(cronFault(cron)).toBe(fault);
});

/** Pieces of expressions, right and wrong. The generator is fixed, so that each run tries the same ones. */
const pieces =
  '0 1 7 13 31 60 -1 * */2 */0 1-5 5-1 1-5/2 3/4 L LW 15W 5L MON#2 mon MON-FRI FRI-MON dec x ? 1,2 1,,2 $ H'.split(
    ' ',
  );
const expressions = Array.from({ length: 400 }, (_, i) =>
  [7, 11, 13, 17, 19]
    .map((prime, field) =>
      (i * prime + field * i) % (field + 3) === 0 ? pieces[(i * prime) % pieces.length] : '*',
    )
    .join(' '),
);

test('what is wrong is said in our words, with nothing that is not written', () => {
  for (const expression of expressions) {
    const fault = cronFault(expression);
    expect(fault ?? '').not.toMatch(/Syntax error|configuration|NaN|Invalid|no cron expression/);
    const [, quoted] = /has "([^"]*)"/.exec(fault ?? '') ?? [];
    if (quoted !== undefined) expect(expression).toContain(quoted);
  }
});
