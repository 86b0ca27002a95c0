/** The users of the server of a folder: one file each. All of this happens under the folder's lock. */
import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive, ownIdentity } from './processes.ts';

/** Records one more use of the server by this process, and returns the path of the file. */
export async function addUser(folder: string): Promise<string> {
  const note = join(folder, `${process.pid}-${randomUUID()}`);
  await writeFile(note, await ownIdentity(), { mode: 0o600 });
  return note;
}

/** The number of files of living processes. Files of dead ones are removed. */
export async function countUsers(folder: string): Promise<number> {
  const notes = (await readdir(folder)).map((name) => join(folder, name));
  const living = await Promise.all(
    notes.map(async (note) => {
      const alive = await isAlive(await readFile(note, 'utf8'));
      if (!alive) await rm(note, { force: true });
      return alive;
    }),
  );
  return living.filter(Boolean).length;
}
