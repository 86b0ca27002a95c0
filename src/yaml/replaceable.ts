/** Checks that a file can be written whole, beside its old version, which it then replaces. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * To be called before the work whose result the file takes. A device is refused, because to replace /dev/stdout or
 * /dev/null would take it from every program of the machine.
 *
 * @throws {Error} with the reason as a clause: `it is a folder`. A system error when the folder is not writable.
 */
export function checkReplaceable(file: string): void {
  const before = statSync(file, { throwIfNoEntry: false });
  if (before?.isDirectory()) throw new Error('it is a folder');
  if (before && !before.isFile()) throw new Error('it is a pipe, a socket or a device, not a regular file');
  const folder = dirname(resolve(file));
  if (!existsSync(folder)) throw new Error('its folder does not exist');
  accessSync(folder, constants.W_OK);
}
