/**
 * Shell completion. The script that a shell loads is short: it passes the words typed so far to this command,
 * which computes the candidates from the command tree. So the script never has to be updated.
 */
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { suggestionFor } from '../../suggest.ts';
import { candidates } from '../completion/candidates.ts';
import { type Shell, scripts } from '../completion/scripts.ts';
import { exit, UsageError } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';

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
  if (words.length === 0) terminal.data(scripts[shell as Shell]);
  // A candidate such as "token_id=" is no secret.
  else for (const one of await candidates(terminal, program, words)) terminal.data(one, 'values-only');
  return exit.ok;
}
