import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { environmentOf, parseDotEnv } from '../../src/settings/environment.ts';
import { InvalidFilesError, renderFinding } from '../../src/yaml/diagnostic.ts';
import { folderWith } from './folder.ts';
import { findingsOf } from './load.ts';

function complaints(text: string): string[] {
  return parseDotEnv(text).faults.map(({ line, message }) => `${line} ${message}`);
}

test('accepted lines are read as other programs read them', () => {
  const text = [
    '# a comment',
    '',
    'PLAIN=value',
    '  export SPACED = two words  # and a comment',
    'EMPTY=',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a variable.
    'SINGLE=\'a # "b" \\n ${x}\'',
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
  ['CARETAKER_API_TOKEN', '1 A line must have the form NAME=value. A name has only letters, digits and _.'],
  ['A=1\nMY-TOKEN=x', '2 A line must have the form NAME=value. A name has only letters, digits and _.'],
  ['A: x', '1 A line must have the form NAME=value. A name has only letters, digits and _.'],
  ['A="x', '1 The value of A starts with " but has no closing one.'],
  ['A="x"y', '1 The value of A continues after its closing quote.'],
  ['A=pass#word', '1 The value of A contains a "#", which starts a comment in some programs.'],
  ['A=1\nA=2', '2 A is defined twice.'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a variable.
  ['TOKEN=${NOPE}', '1 The value of TOKEN contains ${NOPE}, and variables are not replaced in this file.'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a variable.
  ['A="x${B:-c}"', '1 The value of A contains ${B}, and variables are not replaced in this file.'],
  [
    'CARETAKER_CONFIG=x',
    '1 CARETAKER_CONFIG has no effect here, because this file is found through the configuration file.',
  ],
])('%j is reported instead of being misread', (text, complaint) => {
  expect(complaints(text)).toEqual([complaint]);
});

test('an invalid line is reported with file and line, but without its value', () => {
  const folder = folderWith({ '.env': 'A=1\nCARETAKER_API_TOKEN="hush-hush\nhush-hush-too\n' });
  const shown = findingsOf(() => environmentOf(folder, {}))
    .map((one) => renderFinding(one, { color: false }))
    .join('\n');
  expect(shown).toContain(`${join(folder, '.env')}:2:1: The value of CARETAKER_API_TOKEN starts with "`);
  expect(shown).not.toContain('hush');
});

test('a folder called .env is reported, and a missing file is valid', () => {
  const folder = folderWith({});
  expect(environmentOf(folder, { A: '1', B: undefined })).toEqual({ A: '1' });
  mkdirSync(join(folder, '.env'));
  expect(() => environmentOf(folder, {})).toThrow(InvalidFilesError);
  expect(() => environmentOf(folder, {})).toThrow(`${join(folder, '.env')}: This is a folder, not a file.`);
});
