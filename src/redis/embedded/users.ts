/** Who uses the server of a folder: a note for each. All of it happens under the folder's lock. */
import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive, myself } from './processes.ts';

/** Notes down that this process uses the server, once more, and tells the note's path. */
export async function addUser(folder: string): Promise<string> {
  const note = join(folder, `${process.pid}-${randomUUID()}`);
  await writeFile(note, await myself(), { mode: 0o600 });
  return note;
}

/** How many notes are left of processes that live; those of the dead are removed. */
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
