import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderFinding } from '../../src/yaml/diagnostic.ts';
import { frameOf } from '../../src/yaml/text-file.ts';
import { YamlFile } from '../../src/yaml/yaml-file.ts';
import { folderWith } from '../settings/folder.ts';
import { told } from '../settings/load.ts';

const parse = (text: string) => YamlFile.parse('a.yaml', text);

function wellFormed(text: string): YamlFile {
  const file = parse(text);
  if (!(file instanceof YamlFile)) throw new Error(file[0]?.message);
  return file;
}

function refused(text: string): string[] {
  const file = parse(text);
  return file instanceof YamlFile ? [] : file.map(told);
}

test('a value is found by its path, through lists, maps and braces', () => {
  const file = wellFormed('policies:\n  - name: a\n    select: { sort: b }\n');

  const { line, column, path } = file.finding(['policies', 0, 'select', 'sort'], { message: 'x' });

  expect({ line, column, path }).toEqual({ line: 3, column: 21, path: 'policies[0].select.sort' });
});

test('a missing key has the position of the map that should contain it', () => {
  const file = wellFormed('policies:\n  - name: a\n');
  expect(file.finding(['policies', 0, 'job'], { message: 'x' })).toMatchObject({ line: 2, column: 5 });
});

test('the code frame shows two lines before and after, and a caret under the position', () => {
  const file = wellFormed('a: 1\nb: 2\nc: wrong\nd: 4\ne: 5\nf: 6\n');

  const finding = file.finding(['c'], { message: 'The value is wrong.', suggestion: 'did you mean right?' });

  expect(renderFinding(finding, { color: false })).toBe(
    [
      'a.yaml:3:4: The value is wrong. Did you mean right?',
      '    1 | a: 1',
      '    2 | b: 2',
      '  > 3 | c: wrong',
      '      |    ^^^^^',
      '    4 | d: 4',
      '    5 | e: 5',
    ].join('\n'),
  );
});

test('colours change nothing but the colours', () => {
  const finding = wellFormed('a: 1\nb: 2\n').finding(['b'], { message: 'Wrong.' });
  const coloured = renderFinding(finding, { color: (_, text) => `\u001b[1m${text}\u001b[0m` });

  expect(coloured).toContain('\u001b[');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours consist of them.
  expect(coloured.replace(/\u001b\[\d+m/g, '')).toBe(renderFinding(finding, { color: false }));
});

test('the caret is at its position after a tab too', () => {
  const { frame } = wellFormed('a: {\tb: wrong }\n').finding(['a', 'b'], { message: 'x' });
  expect(frame.split('\n')[1]).toBe('    |     \t   ^^^^^');
});

test('only the part of a very long line around the position is shown', () => {
  const { frame } = wellFormed(`a: [${'"x", '.repeat(5000)}wrong]\n`).finding(['a', 5000], { message: 'x' });
  const [source = '', carets = ''] = frame.split('\n');

  expect(source.length).toBeLessThan(130);
  expect(source.slice(carets.indexOf('^'), carets.lastIndexOf('^') + 1)).toBe('wrong');
});

test('a code frame shows no secret of a misspelled key', () => {
  expect(frameOf('accounts:\n  default: { tokn: sup3rsecret }\n', 2, 14)).not.toContain('sup3rsecret');
  expect(frameOf('paswords: sup3rsecret', 1, 1)).not.toContain('sup3rsecret');
  expect(frameOf('job: site-sync', 1, 1)).toContain('site-sync');
});

test('a code frame shows no secret near the error, and no control characters', () => {
  const { frame } = wellFormed(
    'token: hunter2\nx: { password: "pass word", y: wrong }\nz: "\u009b31m"\n',
  ).finding(['x', 'y'], { message: 'x' });
  expect(frame).not.toMatch(/hunter2|pass word|\u009b/);
});

test('a character of a condition is found in every style of text', () => {
  const condition = 'site.a && site.b';
  const styles = {
    [`w: ${condition}\n`]: '1:14',
    [`w: "${condition}"\n`]: '1:15',
    [`w: '${condition}'\n`]: '1:15',
    'w: |\n  site.a &&\n  site.b\n': '3:3',
    'w: >-\n    site.a &&\n    site.b\n': '3:5',
    'w: site.a\n  && site.b\n': '2:6',
  };
  for (const [text, place] of Object.entries(styles)) {
    const { line, column } = wellFormed(text).finding(['w'], {
      message: 'x',
      offset: condition.indexOf('site.b'),
    });
    expect(`${line}:${column}`, text).toBe(place);
  }
});

test('quotes inside a string do not shift the position', () => {
  const places = [`w: 'a == ''x'' && b'\n`, `w: "a == \\"x\\" && b"\n`].map((text) =>
    wellFormed(text).finding(['w'], { message: 'x', offset: 'a == "x" && '.length }),
  );
  expect(places.map(({ column }) => column)).toEqual([19, 19]);
});

test.each([
  [
    'a duplicate key, at its second position',
    'a: 1\nb: 2\na: 3\n',
    ['3:1 a is defined twice in the same map. keep only one'],
  ],
  ['several errors, together', 'a: 1\na: 2\nb: 1\nb: 2\n', [expect.any(String), expect.any(String)]],
  ['a tag that makes more than plain values', 'a: !!js/function "x"\n', [expect.any(String)]],
  ['a tag of YAML 1.1', 'a: !!binary aGk=\n', [expect.any(String)]],
  [
    'a second document, in one sentence at its start',
    'a: 1\n---\nb: 2\n',
    [
      '2:1 A second YAML document starts here. A file must contain only one. merge both, or move this one to its own file',
    ],
  ],
])('rejected: %s', (_, text, findings) => {
  expect(refused(text)).toEqual(findings);
});

test('dates and yes stay strings', () => {
  expect(wellFormed('from: 2026-12-20\nok: yes\n').value()).toEqual({ from: '2026-12-20', ok: 'yes' });
});

test('aliases that expand to too many values are rejected', () => {
  const laughs = 'abcdefgh'.split('').map((name, i, all) => {
    const before = all[i - 1];
    return `${name}: &${name} [${Array(10)
      .fill(before ? `*${before}` : 'x')
      .join(', ')}]`;
  });
  expect(refused(laughs.slice(0, 5).join('\n'))).toHaveLength(1);
  expect(refused(laughs.join('\n'))).toEqual([
    '7:8 The file uses 70 aliases. The maximum is 50, and this is one more. use "defaults" or "vars" for what policies share',
  ]);
});

test('a file of more than a megabyte is not read', () => {
  const folder = folderWith({ 'big.yaml': `# ${'x'.repeat(1024 * 1024)}` });
  expect(YamlFile.read(join(folder, 'big.yaml'))).toMatchObject([
    { message: 'The file is larger than 1 MiB, the maximum size.' },
  ]);
});

test('a very deeply nested file is rejected without a crash', () => {
  const folder = folderWith({ 'deep.yaml': '['.repeat(200_000) });
  expect(YamlFile.read(join(folder, 'deep.yaml'))).not.toBeInstanceOf(YamlFile);
});

test('a control character in a key is shown escaped', () => {
  const finding = wellFormed('"a\\e[31mred": 1\n').finding(['a\u001b[31mred'], {
    at: 'key',
    message: '"a\u001b[31mred" is not a known key.',
  });
  expect(renderFinding(finding, { color: false })).not.toContain('\u001b');
  expect(finding.message).toBe('"a\\u001b[31mred" is not a known key.');
});
