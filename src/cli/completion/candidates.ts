/** The words that can come next on a command line, from the command tree. */
import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { Terminal } from '../output/terminal.ts';
import { type Known, valuesOf } from './values.ts';

/** The candidates for the last word. Never fails: what cannot be read gives no candidates. */
export async function candidates(
  terminal: Pick<Terminal, 'io'>,
  program: CommandUnknownOpts,
  words: readonly string[],
): Promise<string[]> {
  const before = words.slice(0, -1);
  const typed = words.at(-1) ?? '';
  const at =
    before[0] === 'help'
      ? { ...walk(program, before.slice(1)), help: true, terminal }
      : { ...walk(program, before), terminal };
  const [, long, value] = /^(--[\w-]+)=(.*)$/s.exec(typed) ?? [];
  if (long !== undefined && value !== undefined) {
    const option = optionsOf(at.command, program).find((one) => one.long === long);
    const found = option ? await ofOption(option, { ...at, typed: value }) : [];
    return found.map((one) => `${long}=${one}`);
  }
  if (at.open) return ofOption(at.open, { ...at, typed });
  const all = await wordsOf(program, { ...at, typed });
  return all.filter((one) => one.startsWith(typed));
}

interface Place {
  command: CommandUnknownOpts;
  /** Its arguments so far. */
  given: readonly string[];
  /** The option whose value comes next. */
  open?: Option | undefined;
  /** The values of options by their names. */
  options: Readonly<Record<string, string>>;
  terminal: Pick<Terminal, 'io'>;
  /** After `help`, only commands follow. */
  help?: boolean;
}

const optionsOf = (command: CommandUnknownOpts, program: CommandUnknownOpts): readonly Option[] => [
  ...new Set([...command.options, ...program.options]),
];

/** Finds the command that the words select, with its arguments and options so far. */
function walk(program: CommandUnknownOpts, words: readonly string[]): Omit<Place, 'terminal'> {
  let command = program;
  const given: string[] = [];
  const options: Record<string, string> = {};
  let open: Option | undefined;
  for (const word of words) {
    if (open) {
      options[open.attributeName()] = word;
      open = undefined;
      continue;
    }
    if (word.startsWith('-')) {
      const [name = '', value] = word.split(/=(.*)/s);
      const option = optionsOf(command, program).find((one) => one.long === name || one.short === name);
      if (option && value !== undefined) options[option.attributeName()] = value;
      else if (option?.required || option?.optional) open = option;
      continue;
    }
    const next = given.length === 0 ? command.commands.find((one) => one.name() === word) : undefined;
    if (next) command = next;
    else given.push(word);
  }
  return { command, given, open, options };
}

async function ofOption(option: Option, place: Place & { typed: string }): Promise<string[]> {
  const values = option.argChoices ?? (await valuesOf(option.attributeName(), knownAt(place)));
  return listed(values, place.typed);
}

/** In a list (`--roles scheduler,worker`), the last part is completed. */
function listed(values: readonly string[], typed: string): string[] {
  const start = typed.slice(0, typed.lastIndexOf(',') + 1);
  const whole = values.filter((one) => one.startsWith(typed));
  if (start === '' || whole.length > 0) return whole;
  const used = start.split(',');
  return values
    .filter((one) => !used.includes(one) && `${start}${one}`.startsWith(typed))
    .map((one) => start + one);
}

const knownAt = ({ command, given, options, typed, terminal }: Place & { typed: string }): Known => ({
  command: command.name(),
  parent: command.parent?.name(),
  given,
  typed,
  config: options['config'],
  terminal,
});

async function wordsOf(program: CommandUnknownOpts, place: Place & { typed: string }): Promise<string[]> {
  const { command, given, typed, help } = place;
  const isRoot = command === program;
  const names = given.length === 0 ? command.commands.map((one) => one.name()) : [];
  if (help) return names;
  if (typed.startsWith('-'))
    return optionsOf(command, program)
      .flatMap(({ long }) => long ?? [])
      .concat('--help');
  const argument =
    command.registeredArguments[given.length] ?? command.registeredArguments.findLast((one) => one.variadic);
  const values = argument ? (argument.argChoices ?? (await valuesOf(argument.name(), knownAt(place)))) : [];
  return [...names, ...(isRoot && given.length === 0 ? ['help'] : []), ...values];
}
