import { expect, test } from 'vitest';
import { renderFinding, renderFindings } from '../../src/yaml/diagnostic.ts';
import { frameOf } from '../../src/yaml/text-file.ts';
import { fittedFrame, widthOf, wrapped } from '../../src/yaml/width.ts';

const widest = (text: string) => Math.max(...text.split('\n').map((line) => line.length));

test('a sentence is wrapped between words, and the next lines are indented', () => {
  expect(wrapped('one two three four', 10, 2)).toBe('one two\n  three\n  four');
});

test('nothing is wrapped in a pipe, and a long word is not split', () => {
  expect(wrapped('one two three', undefined)).toBe('one two three');
  expect(wrapped('a https://example.org/long', 10)).toBe('a\nhttps://example.org/long');
});

test('colours have no width', () => {
  expect(wrapped('\u001b[31mone\u001b[0m two', 7)).toBe('\u001b[31mone\u001b[0m two');
});

test.each([5, 60, 80])('a code frame fits and its caret is visible, at column %d', (column) => {
  const text = `before\n${'.'.repeat(column - 1)}X${'.'.repeat(130)}\nbehind`;
  const lines = fittedFrame(frameOf(text, 2, column).split('\n'), 40);
  expect(widest(lines.join('\n'))).toBeLessThanOrEqual(40);
  const caret = lines.findIndex((line) => line.includes('^'));
  expect(lines[caret - 1]?.[lines[caret]?.indexOf('^') ?? -1]).toBe('X');
  expect(lines[caret - 1]?.endsWith('…')).toBe(true);
});

test('a caret is at its position after emoji, wide and invisible characters', () => {
  const line = "name: '漢字 👩‍🚀' # x";
  const [source = '', carets = ''] = frameOf(line, 1, line.indexOf('x') + 1).split('\n');
  expect(widthOf(carets)).toBe(widthOf(source));
  const [, wide = ''] = frameOf(line, 1, line.indexOf('漢') + 1, 2).split('\n');
  expect(wide.endsWith(' ^^^^')).toBe(true);
});

test('a code frame of wide characters fits and its caret is visible', () => {
  const line = `${'漢'.repeat(45)}X${'字'.repeat(60)}`;
  const [source = '', carets = ''] = fittedFrame(frameOf(line, 1, 46).split('\n'), 40);
  expect(widthOf(source)).toBeLessThanOrEqual(40);
  expect(widthOf(source.slice(0, source.indexOf('X')))).toBe(carets.indexOf('^'));
});

const finding = {
  file: '/policies/a.yaml',
  line: 1,
  column: 1,
  path: '',
  message: 'The file holds no policy.',
  suggestion: 'delete the file if that is meant',
  frame: '> 1 | x\n    | ^',
};

test('a suggestion ends with a full stop, unless its end is to be copied', () => {
  expect(renderFinding(finding, { color: false })).toContain('Delete the file if that is meant.\n');
  const copied = { ...finding, suggestion: 'run: caretaker policies pause <name>' };
  expect(renderFinding(copied, { color: false })).toContain('pause <name>\n');
});

test('several errors are separated by a blank line', () => {
  const lines = renderFindings([finding, finding], { color: false, columns: 50 }).split('\n');
  expect(lines.filter((line) => line === '')).toHaveLength(1);
  expect(lines.at(-1)).not.toBe('');
  expect(widest(lines.join('\n'))).toBeLessThanOrEqual(50);
});
