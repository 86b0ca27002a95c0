/**
 * Sets up a folder: writes the shipped configuration, policies and tests, the schemas for editors, and a
 * README. Existing files are not changed, except the schemas.
 */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { CaretakerError, systemCodeOf } from '../../errors.ts';
import { exit } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';
import { projectReadme } from '../project-readme.ts';
import { writeSchemas } from '../schemas.ts';

const shipped = dirname(createRequire(import.meta.url).resolve('#root/config/caretaker.yaml'));
/** Not for git: the data of this machine, and the file with the token. */
const ignored = ['.caretaker/', '.env'];

/** The folder is not writable. */
export class FolderUnwritableError extends CaretakerError {
  readonly code = 'FOLDER_UNWRITABLE';
}

/** Writes the files of `config/` that do not exist yet into the current folder, without the examples. */
export async function init(terminal: Terminal): Promise<number> {
  const { message, data } = terminal;
  const folder = process.cwd();
  const files = readdirSync(shipped, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.yaml') && !file.split(sep).includes('examples'))
    .sort()
    .map((file) => join('config', file));
  try {
    for (const file of files) data(copied(file, folder));
    for (const { file, isWritten } of await writeSchemas(join(folder, 'config/schemas')))
      data(
        `${isWritten ? 'written ' : 'kept    '} ${relative(folder, file)}${isWritten ? '' : ' (unchanged)'}`,
      );
    data(readmeIn(folder));
    if (isInGit(folder)) data(ignoredIn(join(folder, '.gitignore')));
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    throw new FolderUnwritableError(`${folder} cannot be written (${code}).`, { cause: error });
  }
  message(
    '\nREADME.md describes the first steps: set CARETAKER_BASE_URL=https://.../api/v6 and CARETAKER_API_TOKEN=... in a file .env in this folder, then run:',
  );
  message('  caretaker doctor               # checks the configuration, Redis and the API');
  message('  caretaker plan nightly-sync    # shows what the policy would do; changes nothing');
  return exit.ok;
}

function copied(file: string, folder: string): string {
  const target = join(folder, file);
  if (existsSync(target)) return `kept     ${file} (already exists)`;
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(shipped, '..', file), target, { errorOnExist: true, force: false });
  return `written  ${file}`;
}

function readmeIn(folder: string): string {
  const file = join(folder, 'README.md');
  if (existsSync(file)) return 'kept     README.md (already exists)';
  writeFileSync(file, projectReadme);
  return 'written  README.md';
}

const isInGit = (folder: string): boolean =>
  spawnSync('git', ['rev-parse', '--is-inside-work-tree'], {
    cwd: folder,
    encoding: 'utf8',
  }).stdout?.trim() === 'true';

function ignoredIn(file: string): string {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const present = before.split('\n').map((line) => line.trim().replace(/^\//, '').replace(/\/$/, ''));
  const missing = ignored.filter((name) => !present.includes(name.replace(/\/$/, '')));
  if (missing.length === 0) return 'kept     .gitignore (already ignores .caretaker/ and .env)';
  const gap = before === '' || before.endsWith('\n') ? '' : '\n';
  appendFileSync(file, `${gap}${missing.join('\n')}\n`);
  return `written  .gitignore (now ignores ${missing.join(' and ')})`;
}
