/** The `caretaker` command: parses a command line, runs its command, and returns the exit code. */

import { CommanderError, type CommandUnknownOpts, InvalidArgumentError } from '@commander-js/extra-typings';
import { nearest, suggestionFor } from '../suggest.ts';
import { BYTE_ORDER_MARK } from '../text.ts';
import { exit, explain, UsageError } from './exit.ts';
import { type Io, serverAddress } from './io.ts';
import { openTerminal, type Terminal } from './output/terminal.ts';
import { type CommandFunction, collecting, rootOf } from './program/root.ts';
import { createProgram } from './program.ts';
import { localCommands, redisCommands } from './without-server.ts';

/**
 * Runs one command line and returns the exit code. Never throws. Ends the process only at a second signal, and when
 * Redis does not respond after the first.
 */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const terminal = openTerminal(io);
  const runner = new Runner(terminal);
  const program = createProgram(
    (load) =>
      (...args) =>
        runner.run(load, args),
    io,
  );
  prepare(program);
  program.on('command:*', ([word]) => rejectUnknown(program, word));
  try {
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(describeInsteadOfHelp(asHelpOption(program, argv)), { from: 'user' });
    return runner.exitCode;
  } catch (error) {
    // commander has already reported the error. Help and version are not errors.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exit.ok : exit.badInput;
    return explain(error, terminal);
  }
}

/** Runs the command that commander has selected, and keeps its exit code, because commander does not. */
class Runner {
  exitCode: number = exit.ok;

  constructor(private readonly terminal: Terminal) {}

  /** `args` come from commander: the arguments of the command, its own options, and the command object. */
  async run<Args extends unknown[], Options>(
    load: () => Promise<CommandFunction<Args, Options>>,
    args: [...Args, unknown, { optsWithGlobals(): Options }],
  ): Promise<void> {
    const command = args.at(-1) as CommandUnknownOpts;
    if (command.commands.length > 0) rejectUnknown(command, command.args[0]);
    const options = command.optsWithGlobals() as Options & {
      json?: true;
      bom?: true;
      output?: string;
      server?: string;
    };
    if (options.json && options.output !== 'json')
      command.error(`error: --json is short for --output json, and --output ${options.output} was given too`);
    if (options.bom && options.output !== 'csv') command.error('error: --bom is for --output csv');
    const terminal = options.bom ? withByteOrderMark(this.terminal) : this.terminal;
    const given = args.slice(0, -2) as Args;
    if (serverAddress(options, this.terminal.io.env) !== undefined) refuseServer(wordsOf(command), options);
    const run = await load();
    this.exitCode = await run(terminal, ...given, options);
  }
}

/** @throws {UsageError} for a command that cannot work with a server. */
function refuseServer(path: string, { server }: { server?: string }): void {
  const local = localCommands[path];
  const refusal = local ?? redisCommands[path];
  // CARETAKER_SERVER does not concern what needs no server.
  if (!refusal || (local && server === undefined)) return;
  const here = 'mit --server, and unset CARETAKER_SERVER';
  const { why, instead } = refusal;
  const what = instead.startsWith('Omit --server')
    ? instead.replace('mit --server', local ? 'mit --server' : here)
    : `${instead}${local ? '' : ` Or o${here}.`}`;
  throw new UsageError(`"caretaker ${path}" cannot be used with a server: ${why}. ${what}`);
}

/** The same terminal, whose data begins with the mark of UTF-8. */
function withByteOrderMark(terminal: Terminal): Terminal {
  let mark = BYTE_ORDER_MARK;
  return {
    ...terminal,
    print(text) {
      terminal.print(`${mark}${text}`);
      mark = '';
    },
  };
}

/** `runs show`: the command without the name of the program. */
function wordsOf(command: CommandUnknownOpts): string {
  const { parent } = command;
  return parent?.parent ? `${wordsOf(parent)} ${command.name()}` : command.name();
}

/** Sets what applies to every command at every depth. */
function prepare(command: CommandUnknownOpts, path = command.name()): void {
  const more =
    command.commands.length > 0 ? 'lists its commands and options' : 'shows its arguments and options';
  command.showHelpAfterError(`("${path} --help" ${more})`);
  // An extra word after a command with subcommands is treated as a misspelled subcommand.
  if (command.commands.length > 0) command.allowExcessArguments();
  for (const option of command.options) refuseTwice(option);
  for (const one of command.commands) prepare(one, `${path} ${one.name()}`);
}

/** The last one counts, as in a script that adds it to an alias. */
const mayBeRepeated = new Set(['--config', '--server', '--output', '--limit', '--reason']);

/** An option that takes one value is refused when it is given twice: commander drops the first one silently. */
function refuseTwice(option: CommandUnknownOpts['options'][number]): void {
  const { parseArg, long, flags } = option;
  const collects = parseArg !== undefined && collecting.has(parseArg);
  if (!flags.endsWith('>') || option.variadic || collects || mayBeRepeated.has(long ?? '')) return;
  let isGiven = false;
  option.argParser((value, before) => {
    if (isGiven) throw new InvalidArgumentError('It was given before, and takes one value.');
    isGiven = true;
    return parseArg ? parseArg(value, before) : value;
  });
}

/**
 * Rejects a word that is not a subcommand where one is expected. The name of a command elsewhere is answered with all
 * its words, and never with another command of a similar name: `pause` with `caretaker policies pause`.
 */
function rejectUnknown(command: CommandUnknownOpts, word: string | undefined): void {
  const names = command.commands.map((one) => one.name());
  if (word === undefined || word.startsWith('-') || names.includes(word)) return;
  const everywhere = commandsBelow(rootOf(command));
  const others = everywhere.map((one) => one.name());
  // At the root, a misspelled word can be that of any command; in a group, one of another group is written exactly.
  const meant = command.parent
    ? others.filter((name) => name === word)
    : nearest(word, [...names, ...others]);
  const hints = everywhere.flatMap((one) => {
    const name = one.name();
    if (!meant.includes(name)) return [];
    if (names.includes(name)) return one.parent === command ? [name] : [];
    return [`"caretaker ${wordsOf(one)}"`];
  });
  const hint = hints.length > 0 ? `did you mean ${hints.join(' or ')}?` : suggestionFor(word, names);
  command.error(`error: unknown command '${word}'${hint ? `: ${hint}` : ''}`);
}

const commandsBelow = (command: CommandUnknownOpts): CommandUnknownOpts[] =>
  command.commands.flatMap((one) => [one, ...commandsBelow(one)]);

/** Rewrites `help runs show` and `runs help show` to `runs show --help`, at every depth. */
function asHelpOption(program: CommandUnknownOpts, argv: readonly string[]): readonly string[] {
  const at = argv.indexOf('help');
  const path = argv.slice(0, Math.max(0, at));
  let command: CommandUnknownOpts | undefined = program;
  for (const word of path) command = command?.commands.find((one) => one.name() === word);
  if (at < 0 || !command || command.commands.length === 0) return argv;
  const asked = argv.slice(at + 1).filter((word) => word !== 'help');
  for (const word of asked) {
    if (!command || command.commands.length === 0) break;
    rejectUnknown(command, word);
    command = command.commands.find((one) => one.name() === word);
  }
  return [...path, ...asked, '--help'];
}

/** Rewrites `api listSites --help` to `--describe`, because only the command can describe an operation. */
function describeInsteadOfHelp(argv: readonly string[]): string[] {
  const [command, operation = '-'] = argv;
  const isOperation = command === 'api' && !operation.startsWith('-');
  return argv.map((word) => (isOperation && (word === '-h' || word === '--help') ? '--describe' : word));
}
