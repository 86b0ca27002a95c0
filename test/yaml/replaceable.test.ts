/** Where a file can be written, as the commands that save one check it before they begin. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkReplaceable } from '../../src/yaml/replaceable.ts';
import { memoryFolder } from '../support/in-memory.ts';

const aFolder = () => {
  const folder = mkdtempSync(join(memoryFolder(), 'caretaker-replaceable-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

test('a new file, and one that is there, can be written', () => {
  const folder = aFolder();
  writeFileSync(join(folder, 'old.json'), '{}');
  expect(() => checkReplaceable(join(folder, 'new.json'))).not.toThrow();
  expect(() => checkReplaceable(join(folder, 'old.json'))).not.toThrow();
});

test('a device is not replaced, also not through a link', () => {
  const link = join(aFolder(), 'link');
  symlinkSync('/dev/null', link);
  for (const file of ['/dev/null', link])
    expect(() => checkReplaceable(file)).toThrow('it is a pipe, a socket or a device, not a regular file');
});

test('a folder, and a file in a folder that does not exist, are refused', () => {
  const folder = aFolder();
  expect(() => checkReplaceable(folder)).toThrow('it is a folder');
  expect(() => checkReplaceable(join(folder, 'none', 'a.json'))).toThrow('its folder does not exist');
});
