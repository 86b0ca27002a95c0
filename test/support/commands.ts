/** The commands of the command line, as it declares them. */
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { createProgram } from '../../src/cli/program.ts';
import { TestIo } from './io.ts';

/** Every command that does something, by its words. One with subcommands and no action of its own only shows its help. */
export function actingCommands(): { words: string; command: CommandUnknownOpts }[] {
  const below = (
    command: CommandUnknownOpts,
    words: readonly string[],
  ): ReturnType<typeof actingCommands> => [
    ...(words.length > 0 && '_actionHandler' in command && command._actionHandler !== null
      ? [{ words: words.join(' '), command }]
      : []),
    ...command.commands.flatMap((one) => below(one, [...words, one.name()])),
  ];
  return below(
    createProgram(() => async () => undefined, new TestIo()),
    [],
  );
}
