/**
 * The one way in which the command line carries out a command of `control/`: in this process, on the records of this folder,
 * or on a server (`--server`). Both give the answer that programs get, so the same code shows it.
 */
import type { z } from 'zod';
import type { Caretaker } from '../app/caretaker.ts';
import type { OpenRecords } from '../app/open-records.ts';
import type { Clock } from '../clock.ts';
import { type AnyCommand, type Command, methodOf } from '../control/command.ts';
import type { AllPolicies } from '../control/policies.ts';
import { CaretakerError } from '../errors.ts';
import { type GlobalOptions, hasRecords, settingsOf, withCaretaker, withRecords } from './context.ts';
import { UsageError } from './exit.ts';
import { clockOf } from './io.ts';
import type { Terminal } from './output/terminal.ts';
import { serverAddress } from './server-address.ts';

export interface Reader<Opened> {
  readonly clock: Pick<Clock, 'now'>;
  /**
   * Asks a command that only reads. `none` is its answer while there are no records yet: what only reads does not start the
   * embedded Redis.
   *
   * @throws {UsageError} when the words of the command line name nothing or are not valid, and what the command throws.
   */
  read<Schema extends z.ZodType, Result, Answer extends object>(
    command: Command<Schema, Result, Opened, Answer>,
    input: z.input<Schema>,
    none: Answer,
  ): Promise<Answer>;
}

export interface Client<Opened> extends Reader<Opened> {
  /** Carries out a command that changes something. Throws as `read` does. */
  act<Schema extends z.ZodType, Result, Answer extends object>(
    command: Command<Schema, Result, Opened, Answer>,
    input: z.input<Schema>,
  ): Promise<Answer>;
}

/** What a command needs where it is carried out in this process. */
interface Needs {
  records: OpenRecords;
  /** The policies of the files too, and those that daemons keep active while their files have errors. */
  policies: OpenRecords & AllPolicies;
  caretaker: Caretaker;
}

/** For a command line that only reads. */
export async function withReader<Need extends keyof Needs>(
  need: Need,
  terminal: Terminal,
  options: GlobalOptions,
  use: (reader: Reader<Needs[Need]>) => Promise<number>,
): Promise<number> {
  const isHere = serverAddress(options, terminal.io.env) === undefined;
  if (!isHere || hasRecords(settingsOf(terminal, options))) return withClient(need, terminal, options, use);
  return use({ clock: clockOf(terminal.io), read: async (_command, _input, none) => none });
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
    const { openServer } = await import('./remote/server.ts');
    const server = openServer(address, terminal.io.env);
    const ask = (command: AnyCommand, input: object) =>
      asUsage(() => {
        const [path, rest] = filled(command.path, input);
        return methodOf(command) === 'GET' ? server.get(path, rest) : server.post(path, rest);
      });
    return use({ clock: clockOf(terminal.io), read: ask, act: ask } as Client<Needs[Need]>);
  }
  const { answerHere } = await import('./carry-out-here.ts');
  const useHere = async (opened: OpenRecords) => {
    const ask = (command: AnyCommand, input: object) =>
      asUsage(() => answerHere(command, opened, input, terminal));
    return use({ clock: opened.clock, read: ask, act: ask } as Client<Needs[Need]>);
  };
  const settings = settingsOf(terminal, options);
  if (need === 'caretaker') return withCaretaker(terminal, options, settings, useHere);
  return withRecords(terminal, options, settings, async (opened) => {
    if (need === 'records') return useHere(opened);
    const { knownPolicies } = await import('./effective-policies.ts');
    const all = await knownPolicies(settings, opened.records, opened.clock.now());
    return useHere({ ...opened, policies: () => all } as OpenRecords);
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
    throw isUsage ? new UsageError(error.message) : error;
  }
}
