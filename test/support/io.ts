/** The streams, variables and signals that a test gives to a command, and what the command printed on them. */
import { EventEmitter } from 'node:events';
import { Readable, Writable } from 'node:stream';
import type { Input, Io, Output } from '../../src/cli/io.ts';
import type { Clock } from '../../src/clock.ts';

export type Streams = 'stdin' | 'stdout' | 'stderr';

export interface IoOptions {
  env?: Readonly<Record<string, string | undefined>>;
  /** What is sent on standard input. */
  input?: string;
  /** Which streams are terminals. Default: none. */
  terminals?: readonly Streams[];
  /** The width of the terminals. */
  columns?: number;
  clock?: Clock | undefined;
}

export class TestIo extends EventEmitter<{ said: []; SIGINT: []; SIGTERM: [] }> implements Io {
  readonly printed = { stdout: '', stderr: '' };
  /** Both streams as they came. */
  together = '';
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly clock: Clock | undefined;

  constructor({ env = {}, input = '', terminals = [], columns = 80, clock }: IoOptions = {}) {
    super();
    this.env = env;
    this.clock = clock;
    const isTTY = (stream: Streams) =>
      terminals.includes(stream) ? { isTTY: true, columns } : { isTTY: false };
    this.stdin = Object.assign(Readable.from(input === '' ? [] : [input]), isTTY('stdin'));
    this.stdout = Object.assign(this.#streamTo('stdout'), isTTY('stdout'));
    this.stderr = Object.assign(this.#streamTo('stderr'), isTTY('stderr'));
  }

  #streamTo(stream: 'stdout' | 'stderr'): Writable {
    return new Writable({
      decodeStrings: false,
      write: (text, _encoding, done) => {
        this.printed[stream] += text;
        this.together += text;
        this.emit('said');
        done();
      },
    });
  }

  /** A command that needs this is tested in a process of its own. */
  exit(code: number): never {
    throw new Error(`The command ended its process with ${code}. It said:\n${this.together}`);
  }
}
