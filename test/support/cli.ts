/** The real command line in a separate process and folder, against a sandbox. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectRecords, type OpenRecords } from '../../src/app/open-records.ts';
import { keptLog } from './quiet.ts';

const root = resolve(import.meta.dirname, '../..');
const bin = join(root, 'src/cli/bin.mjs');

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Started {
  child: ChildProcess;
  /**
   * Resolves with the first line of either stream that matches; rejects when the process ends without one.
   */
  line(pattern: RegExp): Promise<string>;
  ended: Promise<Ended>;
}

export interface Desk {
  folder: string;
  /** Writes a file into the folder. */
  write(file: string, text: string): void;
  start(args: string[], env?: Record<string, string>, cwd?: string): Started;
  /** Runs a command to its end, in this folder unless another is named. */
  run(args: string[], env?: Record<string, string>, cwd?: string): Promise<Ended>;
  /** Starts the embedded Redis of this folder, so that no command has to start it; returns a connection. */
  keepRedis(): Promise<OpenRecords>;
  /** Ends running processes, and deletes the folder. */
  clear(): Promise<void>;
}

/** Resolves when a condition holds that another process causes, and leaves it CPU time meanwhile. */
export async function untilSeen(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

/**
 * A process that was just spawned, with its output piped: its lines as they come, and all of them at its end.
 */
export function started(child: ChildProcess): Started {
  const said = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      said[stream] += text;
      for (const listen of listeners) listen();
    });
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...said }));
  return {
    child,
    ended,
    line: (pattern) =>
      new Promise((found, reject) => {
        const look = () => {
          const line = `${said.stdout}\n${said.stderr}`.split('\n').find((one) => pattern.test(one));
          if (line !== undefined) found(line);
        };
        listeners.add(look);
        look();
        ended.then(
          ({ stdout, stderr }) => reject(new Error(`ended without ${pattern}:\n${stdout}\n${stderr}`)),
          reject,
        );
      }),
  };
}

/** A folder with the shipped configuration; every command in it shares an embedded Redis. */
export function openDesk(environment: Record<string, string>): Desk {
  const folder = mkdtempSync(join(tmpdir(), 'caretaker-desk-'));
  cpSync(join(root, 'config'), join(folder, 'config'), { recursive: true });
  const running = new Set<ChildProcess>();
  let kept: OpenRecords | undefined;

  const start = (args: string[], env: Record<string, string> = {}, cwd = folder): Started => {
    const child = spawn(process.execPath, [bin, ...args], {
      cwd,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, NO_COLOR: '1', ...environment, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    child.on('close', () => running.delete(child));
    return started(child);
  };
  return {
    folder,
    write: (file, text) => writeFileSync(join(folder, file), text),
    start,
    run: (args, env, cwd) => start(args, env, cwd).ended,
    async keepRedis() {
      kept ??= await connectRecords(
        {
          redis: { kind: 'embedded' },
          dataDir: join(folder, '.caretaker'),
          audit: { keptMs: 86_400_000 },
        },
        keptLog(),
      );
      return kept;
    },
    async clear() {
      const ends = [...running].map((child) => once(child, 'close'));
      for (const child of running) child.kill('SIGTERM');
      await Promise.all(ends);
      await kept?.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
