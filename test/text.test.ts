import { expect, test } from 'vitest';
import { visible, visibleJson, visibleLine } from '../src/text.ts';

test.each([
  ['\u001b[31mred\u001b[8mgone', '\\u001b[31mred\\u001b[8mgone'],
  ['\u009b31m', '\\u009b31m'],
  ['\u001b]8;;https://evil.example\u0007here', '\\u001b]8;;https://evil.example\\u0007here'],
  ['\u202egnp.exe\u2066', '\\u202egnp.exe\\u2066'],
  ['zero\u200bwidth\ufeff\u00ad', 'zero\\u200bwidth\\ufeff\\u00ad'],
  ['\u{e0041}tagged', '\\udb40\\udc41tagged'],
  ['half \ud83d', 'half \\ud83d'],
  ['line\u2028separator', 'line\\u2028separator'],
])('what cannot be seen, or steers a terminal, is written out: %j', (text, shown) => {
  expect(visible(text)).toBe(shown);
});

test.each(['Zoë’s Café – 日本語 ❤️ 🎉', 'مرحبا', 'a\u0301', ''])(
  'ordinary text stays as it is: %s',
  (text) => {
    expect(visible(text)).toBe(text);
  },
);

test('a string is one line when it is to be', () => {
  expect(visibleLine('first\n  second\tthird\r\n')).toBe('first second third ');
});

test.each([' ', '\n', '\u200b', 'a '])(
  'a long text of %j takes no longer than its length explains',
  (unit) => {
    const text = unit.repeat(100_000 / unit.length);
    const started = process.cpuUsage();
    visibleLine(`${text}x`);
    // Anything that is not linear takes a hundred times as long.
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(1_000);
  },
);

test('JSON holds nothing that cannot be seen, and is read as the same value', () => {
  const value = { label: '\u001b[31m\u202e\u200b\u0085 ok', list: ['\u{e0041}', 'é'] };
  expect(visibleJson(value)).toBe(
    '{"label":"\\u001b[31m\\u202e\\u200b\\u0085 ok","list":["\\udb40\\udc41","é"]}',
  );
  expect(JSON.parse(visibleJson(value, 2))).toEqual(value);
  expect(visibleJson(value, 2)).toContain('\n  "list"');
});
