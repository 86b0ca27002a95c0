/** What the declarations of all commands share: the command at the root, types, and options. */
import { Command, type CommandUnknownOpts, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { version } from '../../app/version.ts';
import { isLabelText } from '../../policy/labels.ts';
import type { GlobalOptions } from '../context.ts';
import type { Io, Output } from '../io.ts';
import { type Format, formats } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';

/**
 * A function of `commands/`: takes the arguments, then the options of all levels, and returns the exit code.
 */
export type CommandFunction<Args extends unknown[], Options> = (
  terminal: Terminal,
  ...args: [...Args, Options]
) => Promise<number>;

/**
 * Makes the action of a command from the function that `load` returns. The compiler compares both: the
 * command must declare every option that the function reads, with a matching type.
 */
export type ActionOf = <Args extends unknown[], Options>(
  load: () => Promise<CommandFunction<Args, Options>>,
) => <Declared extends Options>(
  ...args: [...Args, unknown, { optsWithGlobals(): Declared & NoneMissing<Options, Declared> }]
) => Promise<void>;

/** Global options need no declaration. `--output` is declared only by commands that print data. */
type NoneMissing<Options, Declared> =
  Exclude<keyof Options, keyof Declared | keyof GlobalOptions> extends never
    ? unknown
    : { undeclared: Exclude<keyof Options, keyof Declared | keyof GlobalOptions> };

export type Program = ReturnType<typeof rootCommand>;

export const rootCommand = ({ stdout, stderr }: Pick<Io, 'stdout' | 'stderr'>) =>
  new Command('caretaker')
    .description('Manages fleets of remote content-management sites by policies.')
    .version(version, '--version', 'print the version')
    .option('--config <file>', 'configuration file (default: CARETAKER_CONFIG, then config/caretaker.yaml)')
    .option('--verbose', 'log progress to standard error')
    .option(
      '--server <url>',
      'work on this Caretaker server, without access to Redis (default: CARETAKER_SERVER)',
    )
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command...]', 'show the help of a command')
    .configureHelp({
      showGlobalOptions: true,
      // Those of a command that lists are not options of the commands below it.
      visibleGlobalOptions: (command) =>
        command.parent ? rootOf(command).options.filter(({ hidden }) => !hidden) : [],
    })
    .configureOutput(outputTo(stdout, stderr))
    .exitOverride();

export const rootOf = (command: CommandUnknownOpts): CommandUnknownOpts =>
  command.parent ? rootOf(command.parent) : command;

/** Help and errors of commander, as wide as the terminal. */
const outputTo = (stdout: Output, stderr: Output) => ({
  writeOut: (text: string) => void stdout.write(text),
  writeErr: (text: string) => void stderr.write(text),
  getOutHelpWidth: () => widthIn(stdout),
  getErrHelpWidth: () => widthIn(stderr),
});
const widthIn = ({ isTTY, columns }: Output): number => (isTTY && columns) || 80;

export const reason = () => new Option('--reason <text>', 'the reason, shown in the audit log');
/** For scripts that give it to every command: this one does not ask in any case. */
export const neverAsks = () => new Option('-y, --yes', 'no question is asked in any case').hideHelp();
export const ignoreFreeze = () => new Option('--ignore-freeze', 'start the run even during a freeze');
/**
 * The format of data on standard output. Every command that lists or shows data takes it, and `json()` beside
 * it. `usual` is the format without the option.
 */
export const output = (usual: Format = 'table') =>
  new Option('-o, --output <format>', `format of the data, by default ${usual}`).choices(formats);
export const json = () =>
  new Option('--json', 'short for --output json').implies({ output: 'json' as const });
/** Gives `--bom` to every command that can print CSV. */
export function addByteOrderMark(command: CommandUnknownOpts): void {
  if (command.options.some(({ long, argChoices }) => long === '--output' && argChoices?.includes('csv')))
    command.option('--bom', 'with --output csv: begin with the mark by which Excel reads UTF-8');
  for (const one of command.commands) addByteOrderMark(one);
}
export const whichRun = 'run id, a prefix of it, or "last"';

export const wholeNumber =
  (min: number, max = Number.MAX_SAFE_INTEGER) =>
  (text: string) => {
    const number = Number(text);
    if (text.trim() !== '' && Number.isInteger(number) && number >= min && number <= max) return number;
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    throw new InvalidArgumentError(`Expected a whole number ${range}.`);
  };

export const collect = (value: string, before: string[] = []) => [...before, value];

/** An option that is given several times, or with commas, with values of a list. */
export function someChoices<Flags extends string, Value extends string>(
  flags: Flags,
  description: string,
  values: readonly Value[],
) {
  const parse = (value: string, before: Value[] | undefined): Value[] => {
    const given = collectList(value, before);
    const unknown = given.find((one) => !values.some((known) => known === one));
    if (unknown !== undefined) throw new InvalidArgumentError(`Allowed choices are ${values.join(', ')}.`);
    return given as Value[];
  };
  collecting.add(parse);
  return new Option(flags, `${description}; repeatable, or with commas`).choices(values).argParser(parse);
}

/** Values of an option that is given several times, or with commas. */
export const collectList = (value: string, before: string[] = []) => [
  ...new Set([...before, ...value.split(',').map((one) => one.trim())]),
];

const collectLabels = (value: string, before: string[] | undefined): string[] => {
  const given = collectList(value, before);
  if (given.every(isLabelText)) return given;
  throw new InvalidArgumentError('Expected the name of a label, or name=value.');
};
export const label = () =>
  new Option(
    '--label <name=value>',
    'only policies with this label (team=shop, or team for any value); repeatable, or with commas: all have to match',
  ).argParser(collectLabels);

/** The parsers of options that may be given several times. */
export const collecting = new WeakSet<object>([collect, collectList, collectLabels]);
