/** Finds the server program, or explains how to install one. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { CaretakerError } from '../../errors.ts';

/**
 * The command that installs Redis, by package manager. `set-up.mjs` beside the CLI runs the same commands.
 */
export const installCommands = {
  'apt-get': 'sudo apt-get install redis-server',
  dnf: 'sudo dnf install redis',
  apk: 'sudo apk add redis',
  pacman: 'sudo pacman -S valkey',
  brew: 'brew install redis',
} as const;

export class RedisMissingError extends CaretakerError {
  readonly code = 'REDIS_MISSING';
  /** `install` is the command that installs it on this system, if known. */
  constructor(readonly install: string | undefined) {
    const how = install === undefined ? 'install Redis or Valkey' : `run "${install}"`;
    super(
      `There is no redis-server or valkey-server on the PATH: ${how}, or set REDIS_URL to a Redis of yours.`,
    );
  }
}

/**
 * The path of `redis-server`, or else of `valkey-server`.
 *
 * @throws {RedisMissingError} when neither is on the PATH.
 */
export async function findServerBinary(): Promise<string> {
  const found = (await onPath('redis-server')) ?? (await onPath('valkey-server'));
  if (found !== undefined) return found;
  for (const [manager, command] of Object.entries(installCommands)) {
    if ((await findManager(manager)) !== undefined) throw new RedisMissingError(command);
  }
  throw new RedisMissingError(undefined);
}

// Also looks in the usual folders: a service manager may start the process with a minimal PATH.
const findManager = async (name: string) =>
  (await onPath(name)) ?? (await firstExecutable(['/usr/bin', '/sbin', '/opt/homebrew/bin'], name));

const onPath = (name: string) => firstExecutable((process.env['PATH'] ?? '').split(delimiter), name);

async function firstExecutable(folders: string[], name: string): Promise<string | undefined> {
  for (const folder of folders) {
    if (folder === '') continue;
    const path = join(folder, name);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}
