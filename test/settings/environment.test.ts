import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { environmentOf, parseDotEnv } from '../../src/settings/environment.ts';
import { InvalidFilesError, renderFinding } from '../../src/yaml/diagnostic.ts';
import { folderWith } from './folder.ts';

function complaints(text: string): string[] {
  return parseDotEnv(text).faults.map(({ line, message }) => `${line} ${message}`);
}

test('what is taken is read as other programs read it', () => {
  const text = [
    '# a comment',
    '',
    'PLAIN=value',
    '  export SPACED = two words  # and a comment',
    'EMPTY=',
    'SINGLE=\'a # "b" \\n\'',
    'DOUBLE="line\\nline" # why not',
    'TICKS=`a\'b"c`',
    'KEY="-----BEGIN-----',
    'abc=',
    '-----END-----"',
    'URL=redis://:pw@host:1/0?a=b',
    '',
  ].join('\r\n');

  const { variables, faults } = parseDotEnv(text);

  expect(faults).toEqual([]);
  expect(variables).toEqual({ ...parseEnv(text.replaceAll('\r', '')) });
  expect(variables['KEY']).toBe('-----BEGIN-----\nabc=\n-----END-----');
});

test.each([
  [
    'CARETAKER_API_TOKEN',
    '1 A line of this file is written NAME=value; the name is of letters, digits and _.',
  ],
  ['A=1\nMY-TOKEN=x', '2 A line of this file is written NAME=value; the name is of letters, digits and _.'],
  ['A: x', '1 A line of this file is written NAME=value; the name is of letters, digits and _.'],
  ['A="x', '1 The value of A starts with " and does not end with one.'],
  ['A="x"y', '1 The value of A continues after its closing quote.'],
  ['A=pass#word', '1 The value of A contains a "#", which starts a comment for some programs.'],
  ['A=1\nA=2', '2 A is given twice.'],
  [
    'CARETAKER_CONFIG=x',
    '1 CARETAKER_CONFIG has no effect here, since this file is found by way of the config.',
  ],
])('%j is told instead of being misread', (text, complaint) => {
  expect(complaints(text)).toEqual([complaint]);
});

test('a line that is wrong is told with file and line, and nothing of its value', () => {
  const folder = folderWith({ '.env': 'A=1\nCARETAKER_API_TOKEN="hush-hush\nhush-hush-too\n' });
  try {
    environmentOf(folder, {});
    expect.unreachable();
  } catch (error) {
    const shown = (error as InvalidFilesError).findings
      .map((one) => renderFinding(one, { color: false }))
      .join('\n');
    expect(shown).toContain(`${join(folder, '.env')}:2:1: The value of CARETAKER_API_TOKEN starts with "`);
    expect(shown).not.toContain('hush');
  }
});

test('a folder called .env is told, and none at all is fine', () => {
  const folder = folderWith({});
  expect(environmentOf(folder, { A: '1', B: undefined })).toEqual({ A: '1' });
  mkdirSync(join(folder, '.env'));
  expect(() => environmentOf(folder, {})).toThrow(InvalidFilesError);
  expect(() => environmentOf(folder, {})).toThrow(`${join(folder, '.env')}: This is a folder, not a file.`);
});
