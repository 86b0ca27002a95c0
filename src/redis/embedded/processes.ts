/**
 * Facts about other processes of this machine, by their process id.
 *
 * Linux has them under `/proc`. Other systems need `ps`, which small container images lack.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const hasProc = existsSync('/proc/self/stat');

/**
 * The start time of a process, in a form that serves only for comparison. It distinguishes the process from a
 * later one with the same id. Undefined when it is gone, or a zombie.
 */
export async function startTimeOf(pid: number): Promise<string | undefined> {
  // The name in parentheses may contain anything. After it come the state and, 19 fields later, the start
  // time.
  const stat = hasProc ? await readProc(pid, 'stat') : await ps(pid, 'state=,lstart=');
  const fields = stat
    ?.slice(stat.lastIndexOf(')') + 1)
    .trim()
    .split(/\s+/);
  const [state, ...rest] = fields ?? [];
  if (state === undefined || /^[ZX]/.test(state)) return undefined;
  return hasProc ? rest[18] : rest.join(' ');
}

/** The command line of a process, its arguments separated by spaces; undefined when it is gone. */
export async function commandOf(pid: number): Promise<string | undefined> {
  const command = hasProc ? await readProc(pid, 'cmdline') : await ps(pid, 'command=');
  return command?.replaceAll('\0', ' ').trim() || undefined;
}

/** The identity of this process in files: its id and its start time. */
export async function ownIdentity(): Promise<string> {
  return `${process.pid} ${await startTimeOf(process.pid)}`;
}

/**
 * The same for other processes on the host. Containers may share the name of a host, but do not see each other's
 * processes.
 */
export async function identityOnHost(): Promise<string> {
  return `${await pidSpace()} ${await ownIdentity()}`;
}

/** Whether a process with this `identityOnHost()` of this host is known to have ended. */
export async function hasEnded(identity: string): Promise<boolean> {
  const space = await pidSpace();
  return identity.startsWith(`${space} `) && !(await isAlive(identity.slice(space.length + 1)));
}

const pidSpace = (): Promise<string> => readlink('/proc/self/ns/pid').catch(() => '-');

/** Whether the process described by `ownIdentity()` in a file is still running. */
export async function isAlive(described: string): Promise<boolean> {
  const space = described.indexOf(' ');
  const pid = Number(described.slice(0, space));
  return space > 0 && Number.isInteger(pid) && (await startTimeOf(pid)) === described.slice(space + 1);
}

async function readProc(pid: number, file: 'stat' | 'cmdline'): Promise<string | undefined> {
  // The process may end between any two steps, so every error means that it is gone.
  return readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => undefined);
}

async function ps(pid: number, columns: string): Promise<string | undefined> {
  const env = { ...process.env, LC_ALL: 'C' };
  return run('ps', ['-ww', '-o', columns, '-p', String(pid)], { env }).then(
    ({ stdout }) => stdout,
    () => undefined,
  );
}
