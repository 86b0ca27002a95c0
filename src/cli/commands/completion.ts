/**
 * Shell completion. The script that a shell loads is short: it passes the words typed so far to this command,
 * which computes the candidates from the command tree. So the script never has to be updated.
 */
import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { loadJobs } from '../../app/jobs.ts';
import { operations } from '../../contract/operations.ts';
import { suggestionFor } from '../../suggest.ts';
import { policiesOf, settingsOf } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';

const scripts = {
  bash: `_caretaker() {
  local IFS=$'\\n'
  COMPREPLY=($(caretaker completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _caretaker caretaker`,
  zsh: `#compdef caretaker
_caretaker() {
  local -a found
  found=("\${(@f)$(caretaker completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -a found; else _files; fi
}
compdef _caretaker caretaker`,
  fish: `complete -c caretaker -a '(caretaker completion fish -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'`,
};

/** Prints the script for a shell or, if words are given, the candidates for the last one. */
export async function completion(
  terminal: Terminal,
  shell: string,
  words: readonly string[],
  program: CommandUnknownOpts,
): Promise<number> {
  if (!Object.hasOwn(scripts, shell)) {
    const hint = suggestionFor(shell, Object.keys(scripts));
    throw new UsageError(`The shell "${shell}" is not supported${hint ? `: ${hint}` : '.'}`);
  }
  if (words.length === 0) terminal.data(scripts[shell as keyof typeof scripts]);
  else for (const one of await candidates(program, words)) terminal.data(one);
  return exit.ok;
}

async function candidates(program: CommandUnknownOpts, words: readonly string[]): Promise<string[]> {
  const typed = words.at(-1) ?? '';
  const { command, given, open } = walk(program, words.slice(0, -1));
  const all = open ? await valuesOf(open.attributeName()) : await wordsOf(command, program, given, typed);
  return all.filter((one) => one.startsWith(typed));
}

/**
 * Finds the command that the words select, the number of its arguments, and the option that expects a value.
 */
function walk(program: CommandUnknownOpts, words: readonly string[]) {
  let command = program;
  let given = 0;
  let open: Option | undefined;
  for (const word of words) {
    if (open) open = undefined;
    else if (word.startsWith('-')) {
      const option = [...command.options, ...program.options].find(
        (one) => one.long === word || one.short === word,
      );
      if (option?.required) open = option;
    } else {
      const next = given === 0 ? command.commands.find((one) => one.name() === word) : undefined;
      if (next) command = next;
      else given += 1;
    }
  }
  return { command, given, open };
}

async function wordsOf(
  command: CommandUnknownOpts,
  program: CommandUnknownOpts,
  given: number,
  typed: string,
): Promise<string[]> {
  if (typed.startsWith('-'))
    return [...new Set([...command.options, ...program.options])]
      .flatMap(({ long }) => long ?? [])
      .concat('--help');
  const argument = command.registeredArguments[given] ?? command.registeredArguments.at(-1);
  const names = given === 0 ? command.commands.map((one) => one.name()) : [];
  return [...names, ...(argument ? await valuesOf(argument.name(), command) : [])];
}

/**
 * The values of an argument or option with this name, as far as they are known without Redis or the service.
 */
async function valuesOf(name: string, command?: CommandUnknownOpts): Promise<string[]> {
  if (name === 'operation') return Object.keys(operations);
  if (name === 'shell') return Object.keys(scripts);
  if (name === 'what') return ['policy', 'config'];
  if (name === 'job') return (await loadJobs()).names();
  const isPolicy = name === 'policy' || (name === 'name' && command?.parent?.name() === 'policies');
  return isPolicy ? policyNames() : [];
}

async function policyNames(): Promise<string[]> {
  try {
    return (await policiesOf(settingsOf({}))).policies.map(({ name }) => name);
  } catch {
    // The command itself reports errors in the files. Completion does not.
    return [];
  }
}
