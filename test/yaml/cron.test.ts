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
])('%s %s', (cron, fault) => {
  expect(cronFault(cron)).toBe(fault);
});
