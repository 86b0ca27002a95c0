import { expect, test } from 'vitest';
import { parsePercent, percent } from '../../src/yaml/percent.ts';

test('a percentage is parsed into a number', () => {
  expect(['10%', '2.5%', '100 %', '0%'].map(parsePercent)).toEqual([10, 2.5, 100, 0]);
});

test.each(['10', '%', '101%', '-1%', 'ten%', ''])('%j is not a percentage', (text) => {
  expect(parsePercent(text)).toBeUndefined();
});

test('a percentage outside its bounds is rejected', () => {
  expect(percent(0, 90).safeParse('95%').success).toBe(false);
  expect(percent(0, 90).parse('90%')).toBe(90);
  expect(percent(0, 90).parse(15)).toBe(15);
});

test('a number below 1 is ambiguous and needs a percent sign', () => {
  expect(percent(0, 100).safeParse(0.07).error?.issues[0]?.message).toBe(
    'must have a percent sign: 7%, or 0.07%',
  );
  expect(percent(0, 100).parse('0.2%')).toBe(0.2);
  expect([0, 1, 20].map((bare) => percent(0, 100).parse(bare))).toEqual([0, 1, 20]);
});
