/** Files are stored under names that we create, completely or not at all. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  ArchiveError,
  ArchiveFolder,
  answered,
  type FileName,
  keepFile,
  markOf,
  namesIn,
  readKept,
  removeKept,
  safeName,
  whyNot,
} from '../../../src/job/archive/file.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'caretaker-archive-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const pdf = (text = 'a report') => Readable.from([Buffer.from(text)]);
/** A name in the folder of the test, where nothing else is said. */
const named = (changes: Partial<FileName> = {}) => ({
  extension: '.pdf',
  dir,
  names: ['c', 's', 'p'],
  ...changes,
});
const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));

describe('a report', () => {
  test('is stored under its client, its site and its period', async () => {
    const names = ['Harbor Law Ltd', 'harbor-law.example', '2026-10'];
    const file = await keepFile(pdf(), named({ names }));
    expect(file).toBe(join(dir, 'Harbor Law Ltd', 'harbor-law.example', '2026-10.pdf'));
    expect(readFileSync(file, 'utf8')).toBe('a report');
  });

  test('is stored in folders created for it, which only our own user can read; existing ones keep their permissions', async () => {
    const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
    chmodSync(dir, 0o750);
    const file = await keepFile(pdf(), named({ dir: join(dir, 'reports') }));
    expect(file).toBe(join(dir, 'reports/c/s/p.pdf'));
    expect([file, dirname(file), join(dir, 'reports'), dir].map(modeOf)).toEqual([
      '600',
      '700',
      '700',
      '750',
    ]);
  });

  test('replaces the previous one, which stays when the download is interrupted', async () => {
    await keepFile(pdf('old'), named());
    const file = await keepFile(pdf('new'), named());
    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(filesIn(dir)).toEqual([join('c', 's', 'p.pdf')]);
    const cut = Readable.from(
      (async function* () {
        yield Buffer.from('half');
        throw new Error('the line was cut');
      })(),
    );
    await expect(keepFile(cut, named())).rejects.toThrow('the line was cut');
    expect(filesIn(dir)).toEqual([join('c', 's', 'p.pdf')]);
    expect(readFileSync(file, 'utf8')).toBe('new');
  });

  test('that is too large is not stored, and its download stops', async () => {
    let given = 0;
    const endless = Readable.from(
      (async function* () {
        for (;;) {
          given += 1000;
          yield Buffer.alloc(1000);
        }
      })(),
    );
    const keeping = keepFile(endless, { ...named(), maxBytes: 10_000 });
    await expect(keeping).rejects.toThrow('is larger than 10000 bytes');
    expect(filesIn(dir)).toEqual([]);
    expect(given).toBeLessThan(200_000);
  });
});

describe('a name from outside', () => {
  test.each([
    ['../../etc/passwd'],
    ['..'],
    ['.'],
    ['/etc/passwd'],
    ['C:\\Windows\\system32'],
    ['a\u0000b'],
    ['~root'],
    ['-rf'],
    [''],
    ['   '],
    ['a\nb'],
    ['\u202egnp.exe'],
    ['x'.repeat(5000)],
    ['ß'.repeat(500)],
  ])('cannot lead to another folder: %j', async (name) => {
    const file = await keepFile(pdf(), named({ names: [name, name, name] }));
    expect(relative(dir, file).split('/')).toHaveLength(3);
    expect(relative(dir, file)).not.toContain('..');
    expect(Buffer.byteLength(basename(file))).toBeLessThan(200);
    expect(filesIn(dir)).toEqual([relative(dir, file)]);
  });

  test.each(['con', 'PRN', 'aux.txt', 'NUL', 'com1', 'LPT9.pdf'])(
    'that is reserved on Windows is changed: %s',
    (name) => {
      expect(safeName(name)).toMatch(/^_/);
    },
  );

  test('that a person would choose is not changed', () => {
    for (const name of ['Müller & Söhne GmbH', 'shop.example', '2026-10', '日本語', 'console', 'com10'])
      expect(safeName(name)).toBe(name);
  });

  test('is never mapped to the file of another name', () => {
    const names = [
      'a/b',
      'a-b',
      'a\\b',
      'a:b',
      'a?b',
      ' a-b',
      'a-b.',
      `${'x'.repeat(300)}1`,
      `${'x'.repeat(300)}2`,
    ];
    expect(new Set(names.map(safeName)).size).toBe(names.length);
  });
});

describe('a file that cannot be written', () => {
  test('is reported in one sentence, and its stream is closed', async () => {
    writeFileSync(join(dir, 'c'), 'a file where a folder should be');
    const content = pdf();
    const keeping = keepFile(content, named());
    await expect(keeping).rejects.toThrow(
      `${join(dir, 'c', 's', 'p.pdf')} could not be written: a file exists in place of a folder.`,
    );
    await expect(keeping).rejects.toBeInstanceOf(ArchiveError);
    expect(content.destroyed).toBe(true);
  });

  test.each(['/proc/nope', join(tmpdir(), 'caretaker-no-such-disk', 'reports')])(
    'because its folder cannot be created is reported at once: %s',
    async (nowhere) => {
      await expect(keepFile(pdf(), named({ dir: nowhere }))).rejects.toThrow(
        `${nowhere}/c/s/p.pdf could not be written: its folder does not exist and cannot be created`,
      );
    },
  );

  test('because the disk never responds is reported after a time limit', async () => {
    await expect(answered(new Promise(() => undefined), 10)).rejects.toThrow(
      'the disk has not answered for 0.01 seconds',
    );
    await expect(answered(Promise.resolve('it does'), 60_000)).resolves.toBe('it does');
  });

  test('because a folder has its name leaves no partial file behind', async () => {
    mkdirSync(join(dir, 'c/s/p.pdf'), { recursive: true });
    await expect(keepFile(pdf(), named())).rejects.toThrow('a folder exists in place of the file');
    expect(filesIn(dir)).toEqual([]);
  });

  test.each([
    ['ENOSPC', 'the disk is full'],
    ['EDQUOT', 'the disk quota is used up'],
    ['EACCES', 'permission denied'],
    ['EROFS', 'the disk is read-only'],
  ])('for %s is reported as: %s', (code, says) => {
    expect(whyNot(Object.assign(new Error(`${code}: system words`), { code }))).toBe(says);
  });
});

test('an archive folder must be an absolute path', () => {
  const takes = (text: string) => ArchiveFolder.safeParse(text).success;
  expect(['/srv/reports', 'C:\\reports', 'D:/reports'].every(takes)).toBe(true);
  expect(['reports', './reports', '~/reports', ''].some(takes)).toBe(false);
});

test('a file that another process has changed meanwhile is not replaced', async () => {
  const name = named({ names: ['logs', '2026-11'], extension: '.csv' });
  await keepFile(pdf('first'), name);
  const mark = (await readKept(name))?.mark;
  await keepFile(pdf('by another process'), name);

  const stillWanted = async () => (await markOf(name)) === mark;

  await expect(keepFile(pdf('mine'), { ...name, stillWanted })).rejects.toThrow(
    'was not written: another process has changed it meanwhile.',
  );
  expect(await readKept(name)).toMatchObject({ text: 'by another process' });
  expect(filesIn(dir)).toEqual(['logs/2026-11.csv']);
});

test('a file and a folder that do not exist are read as none', async () => {
  const name = { dir, names: ['logs', '2026-11'], extension: '.csv' };

  expect(await readKept(name)).toBeUndefined();
  expect(await namesIn({ ...name, names: ['logs'] })).toEqual([]);
  await removeKept(name);
});
