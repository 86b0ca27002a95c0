/** Processes of Caretaker that a test kills. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Runs a file of this folder with these facts; resolves when it is at work. */
export async function startAtWork(
  file: string,
  facts: object,
  { stderr = 'inherit' }: { stderr?: 'inherit' | 'ignore' } = {},
): Promise<ChildProcess> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [path, JSON.stringify(facts)], { stdio: ['ignore', 'pipe', stderr] });
  if (child.stdout) await once(child.stdout, 'data');
  return child;
}

/** SIGKILL, unless it has ended. */
export async function kill(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
