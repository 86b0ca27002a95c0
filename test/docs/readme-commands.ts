import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createProgram } from '../../src/cli/program.ts';
import { TestIo } from '../support/io.ts';

export const root = resolve(import.meta.dirname, '../..');
export const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** The lines that the README shows for a terminal, without comments. */
export const lines = [...readme.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
  block.split('\n').map((line) => line.replace(/\s+#.*$/, '').trim()),
);

/** The arguments of each `caretaker` command of the README, in order. */
export const commands = lines.flatMap((line) =>
  line.startsWith('caretaker ') ? [{ line, args: line.split(' ').slice(1) }] : [],
);

/** Whether there is a command with these arguments and options. */
export async function isCommand(args: readonly string[]): Promise<boolean> {
  let found = false;
  const program = createProgram(
    () => async () => {
      found = true;
    },
    new TestIo(),
  );
  await program.parseAsync(args, { from: 'user' });
  return found;
}
