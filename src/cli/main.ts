/** The `caretaker` command: reads a command line, runs its command, and gives the exit code. */
import { CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { suggestionFor } from '../suggest.ts';
import { exit, explain } from './exit.ts';
import { openTerminal, type Terminal } from './output/terminal.ts';
import { type CommandFunction, createProgram } from './program.ts';

/** Runs one command line; gives the exit code. Never throws, never exits. */
export async function main(argv: readonly string[]): Promise<number> {
  const terminal = openTerminal();
  const runner = new Runner(terminal);
  const program = createProgram(
    (load) =>
      (...args) =>
        runner.run(load, args),
  );
  prepare(program);
  try {
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(describing(asHelpOption(program, argv)), { from: 'user' });
    return runner.exitCode;
  } catch (error) {
    // commander has already reported what is wrong; help and version are no errors.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exit.ok : exit.badInput;
    return explain(error, terminal);
  }
}

/** Runs the command of a command line: commander calls it with arguments, and keeps no exit code. */
class Runner {
  exitCode: number = exit.ok;

  constructor(private readonly terminal: Terminal) {}

  /** `args` are those of commander: the command's arguments, its own options, and the command. */
  async run<Args extends unknown[], Options>(
    load: () => Promise<CommandFunction<Args, Options>>,
    args: [...Args, unknown, { optsWithGlobals(): Options }],
  ): Promise<void> {
    const command = args.at(-1) as CommandUnknownOpts;
    if (command.commands.length > 0) refuseUnknown(command, command.args[0]);
    const run = await load();
    const given = args.slice(0, -2) as Args;
    this.exitCode = await run(this.terminal, ...given, command.optsWithGlobals() as Options);
  }
}

/** What holds for every command of the tree, at whatever depth. */
function prepare(command: CommandUnknownOpts, path = command.name()): void {
  const more = command.commands.length > 0 ? 'lists the commands' : 'shows what it takes';
  command.showHelpAfterError(`("${path} --help" ${more})`);
  // A word behind a command that has commands of its own is one of these, misspelt.
  if (command.commands.length > 0) command.allowExcessArguments();
  for (const one of command.commands) prepare(one, `${path} ${one.name()}`);
}

/** A word that stands where one of a command's own commands is expected, and is none of them. */
function refuseUnknown(command: CommandUnknownOpts, word: string | undefined): void {
  const names = command.commands.map((one) => one.name());
  if (word === undefined || word.startsWith('-') || names.includes(word)) return;
  const hint = suggestionFor(word, names);
  command.error(`error: unknown command '${word}'${hint ? `: ${hint}` : ''}`);
}

/** `help runs show` and `runs help show` ask for what `runs show --help` does, at whatever depth. */
function asHelpOption(program: CommandUnknownOpts, argv: readonly string[]): readonly string[] {
  const at = argv.indexOf('help');
  const path = argv.slice(0, Math.max(0, at));
  let command: CommandUnknownOpts | undefined = program;
  for (const word of path) command = command?.commands.find((one) => one.name() === word);
  if (at < 0 || !command || command.commands.length === 0) return argv;
  const asked = argv.slice(at + 1).filter((word) => word !== 'help');
  for (const word of asked) {
    if (!command || command.commands.length === 0) break;
    refuseUnknown(command, word);
    command = command.commands.find((one) => one.name() === word);
  }
  return [...path, ...asked, '--help'];
}

/** `api listSites --help` asks about the operation, which only its command can describe. */
function describing(argv: readonly string[]): string[] {
  const [command, operation = '-'] = argv;
  const about = command === 'api' && !operation.startsWith('-');
  return argv.map((word) => (about && (word === '-h' || word === '--help') ? '--describe' : word));
}
