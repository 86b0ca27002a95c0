/** CSV is read back as it was written. */
import { expect, test } from 'vitest';
import { formatCsv, parseCsv } from '../../../jobs/archive/entries.ts';

test.each([
  [['plain', '', ' spaces ', 'a,b']],
  [['a "quoted" word', '"', '""']],
  [['two\nlines', 'two\r\nlines', 'ends with a comma,']],
  [['', '']],
])('a row is read as it was written: %j', (row) => {
  expect(parseCsv(formatCsv([row, ['next', 'row']]))).toEqual([row, ['next', 'row']]);
});

test('a byte order mark, other line breaks and a missing one at the end do not matter', () => {
  expect(parseCsv('\ufeffid,at\n1,2\n\n3,')).toEqual([
    ['id', 'at'],
    ['1', '2'],
    ['3', ''],
  ]);
});

test('a misplaced quote is an error that names its line', () => {
  expect(() => parseCsv('id\r\n1\r\n"open')).toThrow('a quote in line 3 is misplaced');
  expect(() => parseCsv('id\r\n1"2\r\n')).toThrow('a quote in line 2 is misplaced');
});
