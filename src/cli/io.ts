/** What a command line uses of its process. Tests pass their own, to run commands in theirs. */
import { type Clock, systemClock } from '../clock.ts';

export interface Input extends NodeJS.ReadableStream {
  isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
}

export interface Output extends NodeJS.WritableStream {
  isTTY?: boolean;
  columns?: number;
  /** The descriptor, if it is a file of the system. */
  fd?: number;
}

/**
 * The streams, the variables, the signals and the end of the process; `process` itself is one. The working folder
 * is not part of it: the system has one for each process, and relative names of files are from there.
 */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  on(signal: 'SIGINT' | 'SIGTERM', handle: () => void): unknown;
  off(signal: 'SIGINT' | 'SIGTERM', handle: () => void): unknown;
  /** Ends the process without waiting for anything. */
  exit(code: number): never;
  /** Default: the machine's clock, corrected by Redis's where a command uses Redis. */
  readonly clock?: Clock | undefined;
}

/** The clock of a command, or of a part of one, that does not use Redis. */
export const clockOf = ({ clock = systemClock }: Pick<Io, 'clock'>): Clock => clock;

/** The address of `--server` or CARETAKER_SERVER; undefined when the command works on this machine. */
export const serverAddress = ({ server }: { server?: string }, env: Io['env']): string | undefined =>
  server ?? (env['CARETAKER_SERVER'] || undefined);
