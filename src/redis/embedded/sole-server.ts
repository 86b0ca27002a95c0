/**
 * Stops a server whose users were all killed, when no other process is left to do it.
 *
 * A small separate shell process checks the users of the folder, and exits with the server. It may miss a
 * user that is just joining. Then the server is gone for a moment, and that user's own watch restarts it with
 * its data.
 */
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import type { RedisFolder } from './folder.ts';

/** The number of consecutive checks without a user; with the pause, some six seconds. */
const script = `
alone=0
while kill -0 "$1" 2>/dev/null; do
  sleep 2
  used=
  for note in "$3"/*; do
    note=\${note##*/}
    if kill -0 "\${note%%-*}" 2>/dev/null; then used=yes; break; fi
  done
  if [ "$used" ]; then alone=0; continue; fi
  alone=$((alone + 1))
  [ "$alone" -lt 3 ] && continue
  if [ ! -e "$2" ] || [ "$(cat "$2")" = "$1" ]; then kill "$1" 2>/dev/null; fi
  while kill -0 "$1" 2>/dev/null; do sleep 1; done
  [ "$4" ] && rmdir "$4"
  exit
done`;

/** Makes the server with this process id stop some seconds after the last of its users was killed. */
export function stopWithoutUsers({ dir, pidFile, users, socketPath }: RedisFolder, serverPid: number): void {
  const elsewhere = dirname(socketPath) === dir ? '' : dirname(socketPath);
  const shell = spawn(
    '/bin/sh',
    ['-c', script, 'caretaker-redis', String(serverPid), pidFile, users, elsewhere],
    {
      cwd: '/',
      detached: true,
      stdio: 'ignore',
      env: { PATH: process.env['PATH'] },
    },
  );
  // Without it the server keeps running until the next user comes, which is no reason to fail.
  shell.on('error', () => {});
  shell.unref();
}
