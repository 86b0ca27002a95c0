/**
 * What a folder needs to be worked in: the shipped configuration and policies, and nothing that is there is
 * touched.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CaretakerError, systemCodeOf } from '../../errors.ts';
import { exit } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';

const shipped = fileURLToPath(new URL('../../../../config', import.meta.url));
/** Kept out of git: what belongs to this machine, and where the token stands. */
const ignored = ['.caretaker/', '.env'];

/** The folder cannot be written into. */
export class FolderUnwritableError extends CaretakerError {
  readonly code = 'FOLDER_UNWRITABLE';
}

/** Writes `config/` into the current folder, file by file where there is none yet. */
export async function init(terminal: Terminal): Promise<number> {
  const { message, data } = terminal;
  const folder = process.cwd();
  const files = readdirSync(shipped, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => join('config', file));
  try {
    for (const file of files) data(copied(file, folder));
    if (isInGit(folder)) data(ignoredIn(join(folder, '.gitignore')));
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    throw new FolderUnwritableError(`${folder} cannot be written (${code}).`, { cause: error });
  }
  message(
    '\nNext: put CARETAKER_BASE_URL=https://.../api/v6 and CARETAKER_API_TOKEN=... into the file .env here, then',
  );
  message('  caretaker doctor               # is everything there that is needed?');
  message('  caretaker plan nightly-sync    # what it would work on; changes nothing');
  return exit.ok;
}

function copied(file: string, folder: string): string {
  const target = join(folder, file);
  if (existsSync(target)) return `kept     ${file}, which was there`;
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(shipped, '..', file), target, { errorOnExist: true, force: false });
  return `written  ${file}`;
}

const isInGit = (folder: string): boolean =>
  spawnSync('git', ['rev-parse', '--is-inside-work-tree'], {
    cwd: folder,
    encoding: 'utf8',
  }).stdout?.trim() === 'true';

function ignoredIn(file: string): string {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const there = before.split('\n').map((line) => line.trim().replace(/^\//, '').replace(/\/$/, ''));
  const lacking = ignored.filter((name) => !there.includes(name.replace(/\/$/, '')));
  if (lacking.length === 0) return 'kept     .gitignore, which ignores .caretaker/ and .env already';
  const gap = before === '' || before.endsWith('\n') ? '' : '\n';
  appendFileSync(file, `${gap}${lacking.join('\n')}\n`);
  return `written  .gitignore: ignores ${lacking.join(' and ')}`;
}
