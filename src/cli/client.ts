/**
 * The one way in which the command line carries out a command of `control/`: in this process, on the records of this
 * folder, or on a server (`--server`). Both give the answer that programs get, so the same code shows it.
 */
import type { z } from 'zod';
import type { Caretaker } from '../app/caretaker.ts';
import type { OpenRecords } from '../app/open-records.ts';
import type { Clock } from '../clock.ts';
import { type AnyCommand, type Command, methodOf } from '../control/command.ts';
import type { AllPolicies, PolicyDeps } from '../control/policies.ts';
import { CaretakerError } from '../errors.ts';
import { type GlobalOptions, hasRecords, settingsOf, withCaretaker, withRecords } from './context.ts';
import { UsageError } from './exit.ts';
import { clockOf, serverAddress } from './io.ts';
import type { Terminal } from './output/terminal.ts';

export interface Reader<Opened> {
  readonly clock: Clock;
  /** What is open in this process; undefined on a server, and while there are no records yet. */
  readonly here?: Opened;
  /** The address of the server, when the commands are carried out there. */
  readonly server?: string;
  /**
   * Asks a command that only reads. `none` is its answer while there are no records yet, or makes it: what only reads
   * does not start the embedded Redis. `more`: what the command needs besides in this process.
   *
   * @throws {UsageError} when the words of the command line name nothing or are not valid, and what the command throws.
   */
  read<Schema extends z.ZodType, Result, Answer extends object, More extends object = object>(
    command: Command<Schema, Result, Opened & More, Answer>,
    input: z.input<Schema>,
    none: Answer | (() => Answer | Promise<Answer>),
    more?: More,
  ): Promise<Answer>;
}

type Act<Opened> = <Schema extends z.ZodType, Result, Answer extends object, More extends object = object>(
  command: Command<Schema, Result, Opened & More, Answer>,
  input: z.input<Schema>,
  more?: More,
) => Promise<Answer>;

export interface Client<Opened> extends Reader<Opened> {
  /**
   * Carries out a command that changes something, for a daemon to act on. `more`: what it needs besides in this process.
   * Throws as `read` does.
   */
  act: Act<Opened>;
  /** The same for what this process itself works on. */
  start: Act<Opened>;
}

/** For parts that only need to read records. */
export type RecordReader = Reader<OpenRecords>;

/** What a command needs where it is carried out in this process. */
interface Needs {
  records: OpenRecords;
  /** The policies of the files too, and those that daemons keep active while their files have errors. */
  policies: OpenRecords & AllPolicies & PolicyDeps;
  caretaker: Caretaker;
}

export const isOnServer = (terminal: Pick<Terminal, 'io'>, options: GlobalOptions): boolean =>
  serverAddress(options, terminal.io.env) !== undefined;

/** For a command line that only reads. */
export async function withReader<Need extends keyof Needs>(
  need: Need,
  terminal: Terminal,
  options: GlobalOptions,
  use: (reader: Reader<Needs[Need]>) => Promise<number>,
): Promise<number> {
  if (isOnServer(terminal, options) || hasRecords(settingsOf(terminal, options)))
    return withClient(need, terminal, options, use);
  const read = async (_command: unknown, _input: unknown, none: object | (() => object)) =>
    typeof none === 'function' ? none() : none;
  return use({ clock: clockOf(terminal.io), read } as Reader<Needs[Need]>);
}

/** For a command line that changes something. */
export async function withClient<Need extends keyof Needs>(
  need: Need,
  terminal: Terminal,
  options: GlobalOptions,
  use: (client: Client<Needs[Need]>) => Promise<number>,
): Promise<number> {
  const address = serverAddress(options, terminal.io.env);
  if (address !== undefined) {
    const { openServer } = await import('./server.ts');
    const server = openServer(address, terminal.io.env);
    const ask = (command: AnyCommand, input: object) =>
      asUsage(() => {
        const [path, rest] = filled(command.path, input);
        return methodOf(command) === 'GET' ? server.get(path, rest) : server.post(path, rest);
      });
    const client = { clock: clockOf(terminal.io), server: server.url, read: ask, act: ask, start: ask };
    return use(client as Client<Needs[Need]>);
  }
  const { answerHere, noteNoDaemon } = await import('./carry-out-here.ts');
  const useHere = async (here: OpenRecords) => {
    const start = (command: AnyCommand, input: object, more: object = {}) =>
      asUsage(() => answerHere(command, { ...here, ...more }, input));
    const read = (command: AnyCommand, input: object, _none: unknown, more?: object) =>
      start(command, input, more);
    const act = async (command: AnyCommand, input: object, more?: object) => {
      const given = await start(command, input, more);
      await noteNoDaemon(here, terminal);
      return given;
    };
    return use({ clock: here.clock, here, read, act, start } as Client<Needs[Need]>);
  };
  const settings = settingsOf(terminal, options);
  if (need === 'caretaker') return withCaretaker(terminal, options, settings, useHere);
  return withRecords(terminal, options, settings, async (opened) => {
    if (need === 'records') return useHere(opened);
    const { knownPolicies } = await import('./effective-policies.ts');
    const all = await knownPolicies(settings, opened.records, opened.clock.now());
    const policy = (name: string) => all.find((one) => one.name === name);
    return useHere({ ...opened, policies: () => all, policy } as OpenRecords);
  });
}

/** The address of a command with the fields of the input that it names, and the other fields. */
function filled(path: string, input: object): [string, Record<string, never>] {
  const rest = { ...input } as Record<string, never>;
  const address = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest[name]);
    delete rest[name];
    return encodeURIComponent(value);
  });
  return [address, rest];
}

/** What the command line names wrongly needs no error code: the sentence is enough. */
async function asUsage<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const isUsage = error instanceof CaretakerError && ['INVALID_REQUEST', 'NOT_FOUND'].includes(error.code);
    throw isUsage ? new UsageError(error.message, { cause: error }) : error;
  }
}
