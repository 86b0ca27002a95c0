/** Where the server's program is, and what to say when there is none. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { CaretakerError } from '../../errors.ts';

/**
 * What installs a Redis, by the package manager that a system has. `set-up.mjs` beside the CLI runs the same.
 */
export const installCommands = {
  'apt-get': 'sudo apt-get install redis-server',
  dnf: 'sudo dnf install redis',
  apk: 'sudo apk add redis',
  pacman: 'sudo pacman -S valkey',
  brew: 'brew install redis',
} as const;

/** Neither `redis-server` nor `valkey-server` is on the PATH. */
export class RedisMissingError extends CaretakerError {
  readonly code = 'REDIS_MISSING';
  /** `install` is the command that helps on this system, when we know one. */
  constructor(readonly install: string | undefined) {
    const how = install === undefined ? 'install Redis or Valkey' : `run "${install}"`;
    super(
      `There is no redis-server or valkey-server on the PATH: ${how}, or set REDIS_URL to a Redis of yours.`,
    );
  }
}

/**
 * The path of `redis-server`, else of `valkey-server`.
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

// Looked for where they always are, too: a service manager may start us with next to no PATH.
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
