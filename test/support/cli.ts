/** The command line in a folder of its own, against a sandbox: in this process, or as a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectRecords, type OpenRecords } from '../../src/app/open-records.ts';
import { main } from '../../src/cli/main.ts';
import type { Clock } from '../../src/clock.ts';
import { memoryFolder } from './in-memory.ts';
import { TestIo } from './io.ts';
import { keptLog } from './quiet.ts';
import { startTestRedis, type TestRedis } from './redis.ts';

const root = resolve(import.meta.dirname, '../..');
const bin = join(root, 'src/cli/bin.cjs');

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A command that runs. */
export interface Started {
  /**
   * Resolves with the first line of either stream that matches; rejects when the command ends without one.
   */
  line(pattern: RegExp): Promise<string>;
  ended: Promise<Ended>;
  /** What it has printed so far. */
  printed: { readonly stdout: string; readonly stderr: string };
  /** Sends it a signal. */
  signal(name: 'SIGINT' | 'SIGTERM'): void;
}

/** A command that runs as a process. */
export interface Process extends Started {
  child: ChildProcess;
}

type Starting<T> = (args: string[], env?: Record<string, string>, cwd?: string) => T;

export interface Desk {
  folder: string;
  /** Writes a file into the folder. */
  write(file: string, text: string): void;
  /** Runs a command to its end in this process, in this folder unless another is named. */
  run: Starting<Promise<Ended>>;
  /** Starts a command in this process. */
  start: Starting<Started>;
  /** Starts a command as a process: for tests about processes, signals and pipes. */
  spawn: Starting<Process>;
  /**
   * From then on, commands use a Redis of this desk, in place of an embedded one that each of them would start. Returns a
   * connection to it.
   */
  keepRedis(): Promise<OpenRecords>;
  /** Ends what runs, and deletes the folder. */
  clear(): Promise<void>;
}

/** Resolves when a condition holds that another process causes, and leaves it CPU time meanwhile. */
export async function untilSeen(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

/** Finds lines in what is printed, as it comes. `text` is all of it so far. */
function linesOf(
  text: () => string,
  onMore: (look: () => void) => void,
  ended: Promise<Ended>,
): Started['line'] {
  return (pattern) =>
    new Promise((found, reject) => {
      const look = () => {
        const line = text()
          .split('\n')
          .find((one) => pattern.test(one));
        if (line !== undefined) found(line);
      };
      onMore(look);
      look();
      ended.then(
        ({ stdout, stderr }) => reject(new Error(`ended without ${pattern}:\n${stdout}\n${stderr}`)),
        reject,
      );
    });
}

/**
 * A process that was just spawned, with its output piped: its lines as they come, and all of them at its end.
 */
export function started(child: ChildProcess): Process {
  const said = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      said[stream] += text;
      child.emit('said');
    });
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...said }));
  const line = linesOf(
    () => `${said.stdout}\n${said.stderr}`,
    (look) => child.on('said', look),
    ended,
  );
  return { child, ended, line, printed: said, signal: (name) => void child.kill(name) };
}

/** A URL for the settings, which have no form for a socket. */
const urlOf = ({ socketPath }: TestRedis) => `redis://localhost?path=${encodeURIComponent(socketPath)}`;

/** The commands that run in this process, and the folder in which the first of them found it. */
const inside = { commands: 0, home: '' };

/** Runs a command in this process, which is in the folder meanwhile. */
async function runHere(args: string[], io: TestIo, folder: string): Promise<Ended> {
  if (inside.commands === 0) inside.home = process.cwd();
  inside.commands += 1;
  process.chdir(folder);
  try {
    const code = await main(args, io);
    return { code, ...io.printed };
  } finally {
    inside.commands -= 1;
    if (inside.commands === 0) process.chdir(inside.home);
  }
}

function startHere(args: string[], io: TestIo, folder: string): Started {
  const ended = runHere(args, io, folder);
  const line = linesOf(
    () => `${io.printed.stdout}\n${io.printed.stderr}`,
    (look) => io.on('said', look),
    ended,
  );
  return { ended, line, printed: io.printed, signal: (name) => void io.emit(name) };
}

/** Most of the shipped files, which no command reads by itself. */
const isExample = /config.(examples|tests.examples)/;

/**
 * A folder with the shipped configuration without its examples, in which every policy is switched on. Commands in this
 * process use the clock, if one is given, instead of the machine's.
 */
export function openDesk(environment: Record<string, string>, clock?: Clock): Desk {
  const folder = mkdtempSync(join(memoryFolder(), 'caretaker-desk-'));
  cpSync(join(root, 'config'), join(folder, 'config'), {
    recursive: true,
    filter: (path) => !isExample.test(path),
  });
  const policies = join(folder, 'config/policies');
  for (const file of readdirSync(policies)) {
    const text = readFileSync(join(policies, file), 'utf8');
    writeFileSync(join(policies, file), text.replace(/^ +enabled: false .*\n/m, ''));
  }
  const running = new Set<Started>();
  let redis: TestRedis | undefined;
  let kept: OpenRecords | undefined;

  const keep = <T extends Started>(one: T): T => {
    running.add(one);
    const forget = () => running.delete(one);
    one.ended.then(forget, forget);
    return one;
  };
  const envWith = (env: Record<string, string>) => ({
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    NO_COLOR: '1',
    ...(redis && { REDIS_URL: urlOf(redis) }),
    ...environment,
    ...env,
  });
  const start = (args: string[], env: Record<string, string> = {}, cwd = folder) =>
    keep(startHere(args, new TestIo({ env: envWith(env), clock }), cwd));
  return {
    folder,
    write: (file, text) => writeFileSync(join(folder, file), text),
    start,
    run: (args, env, cwd) => start(args, env, cwd).ended,
    spawn: (args, env = {}, cwd = folder) =>
      keep(
        started(
          spawn(process.execPath, [bin, ...args], {
            cwd,
            env: envWith(env),
            stdio: ['ignore', 'pipe', 'pipe'],
          }),
        ),
      ),
    async keepRedis() {
      redis ??= await startTestRedis();
      kept ??= await connectRecords(
        {
          redis: { kind: 'url', url: urlOf(redis) },
          dataDir: join(folder, '.caretaker'),
          audit: { keptMs: 86_400_000 },
        },
        keptLog(),
        clock,
      );
      return kept;
    },
    async clear() {
      const ends = [...running].map(({ ended }) => ended);
      for (const one of running) one.signal('SIGTERM');
      await Promise.all(ends);
      await kept?.close();
      await redis?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
