/** Processes of Caretaker that a test kills. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Runs a file of this folder with these facts. */
export function start(file: string, facts: object, stderr: 'inherit' | 'ignore' = 'inherit'): ChildProcess {
  const path = fileURLToPath(new URL(file, import.meta.url));
  return spawn(process.execPath, [path, JSON.stringify(facts)], { stdio: ['ignore', 'pipe', stderr] });
}

/** Waits until it says that it is at work. */
export async function atWork({ stdout }: ChildProcess): Promise<void> {
  if (stdout) await once(stdout, 'data');
}

/** SIGKILL, unless it has ended. */
export async function kill(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
