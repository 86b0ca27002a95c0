/**
 * What can be told about other processes of this machine by their number.
 *
 * Linux says it under `/proc`; other systems through `ps`, which small container images lack.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const hasProc = existsSync('/proc/self/stat');

/**
 * When a process was born, in a form that only serves comparison: it tells the process from a later one that
 * got the same number. Nothing when it is gone, or dead and only waiting for its parent to notice.
 */
export async function birthOf(pid: number): Promise<string | undefined> {
  // The name in parentheses may hold anything; the fields behind it are the state and, 19 further, the start.
  const stat = hasProc ? await readProc(pid, 'stat') : await ps(pid, 'state=,lstart=');
  const fields = stat
    ?.slice(stat.lastIndexOf(')') + 1)
    .trim()
    .split(/\s+/);
  const [state, ...rest] = fields ?? [];
  if (state === undefined || /^[ZX]/.test(state)) return undefined;
  return hasProc ? rest[18] : rest.join(' ');
}

/** The command line of a process, its parts apart by spaces; nothing when it is gone. */
export async function commandOf(pid: number): Promise<string | undefined> {
  const command = hasProc ? await readProc(pid, 'cmdline') : await ps(pid, 'command=');
  return command?.replaceAll('\0', ' ').trim() || undefined;
}

/** This process as it is written into files: its number and its birth. */
export async function myself(): Promise<string> {
  return `${process.pid} ${await birthOf(process.pid)}`;
}

/** Whether the process that `myself()` described in some file is still the one with that number. */
export async function isAlive(described: string): Promise<boolean> {
  const space = described.indexOf(' ');
  const pid = Number(described.slice(0, space));
  return space > 0 && Number.isInteger(pid) && (await birthOf(pid)) === described.slice(space + 1);
}

async function readProc(pid: number, file: 'stat' | 'cmdline'): Promise<string | undefined> {
  // It may vanish between any two steps: whatever goes wrong means that it is gone.
  return readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => undefined);
}

async function ps(pid: number, columns: string): Promise<string | undefined> {
  const env = { ...process.env, LC_ALL: 'C' };
  return run('ps', ['-ww', '-o', columns, '-p', String(pid)], { env }).then(
    ({ stdout }) => stdout,
    () => undefined,
  );
}
