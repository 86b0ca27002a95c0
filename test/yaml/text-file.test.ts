import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderFinding } from '../../src/yaml/diagnostic.ts';
import { readTextFile } from '../../src/yaml/text-file.ts';
import { folderWith } from '../settings/folder.ts';

function refused(file: string): string[] {
  const read = readTextFile(file);
  return 'text' in read ? [] : read.findings.map((one) => `${one.line}:${one.column} ${one.message}`);
}

function refusedBytes(bytes: Uint8Array): string[] {
  const file = join(folderWith({}), 'a.yaml');
  writeFileSync(file, bytes);
  return refused(file);
}

test('a pipe is rejected immediately, and a folder is reported as one', () => {
  const folder = folderWith({});
  execFileSync('mkfifo', [join(folder, 'pipe.yaml')]);
  expect(refused(join(folder, 'pipe.yaml'))).toEqual([
    '1:1 This is a pipe, a socket or a device, not a regular file.',
  ]);
  expect(refused(folder)).toEqual(['1:1 This is a folder, not a file.']);
});

test('text that is not UTF-8 is rejected at its first invalid byte', () => {
  expect(refusedBytes(Buffer.from('a: 1\nb: Z\xfcrich\n', 'latin1'))).toEqual([
    '2:5 The file is not UTF-8 text.',
  ]);
  expect(refusedBytes(Buffer.from('\ufeffa: 1\n', 'utf16le'))).toEqual(['1:1 The file is not UTF-8 text.']);
  expect(refusedBytes(Buffer.from('\ufeffa: Zürich\r\n\tb'))).toEqual([]);
});

test('a control character is rejected, and does not reach the terminal', () => {
  const file = join(folderWith({ 'a.yaml': 'a: 1\nb\u001b[31m: 2\n' }), 'a.yaml');
  expect(refused(file)).toEqual(['2:2 The file contains a control character (U+001B).']);
  const read = readTextFile(file);
  if ('text' in read) throw new Error('read');
  expect(read.findings.map((finding) => renderFinding(finding, { color: false })).join()).not.toContain(
    '\u001b',
  );
});
