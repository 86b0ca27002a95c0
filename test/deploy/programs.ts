/** Programs that check files of deploy/: tests that need a missing one are skipped with a message. */
import { spawnSync } from 'node:child_process';

/** Whether the program is installed; says it when it is not. */
export function hasProgram(name: string, what: string): boolean {
  const found = spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
  if (!found) process.stderr.write(`SKIPPED: ${name} is not installed, so ${what}\n`);
  return found;
}

/** What a program prints on both streams; its exit code has to be 0. */
export function outputOf(program: string, args: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ended with ${status}:\n${stdout}${stderr}`);
  return `${stdout}${stderr}`;
}
