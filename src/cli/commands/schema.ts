import { suggestionFor } from '../../settings/suggest.ts';
import { exit, UsageError } from '../exit.ts';
import type { Terminal } from '../terminal.ts';

/** Prints the JSON Schema of one kind of file, for editors. */
export async function schema(terminal: Terminal, what: string): Promise<number> {
  if (what === 'policy') {
    terminal.json((await import('../../policy/policy-file.ts')).policyFileJsonSchema());
    return exit.ok;
  }
  if (what === 'config') {
    terminal.json((await import('../../settings/config-file.ts')).configFileJsonSchema());
    return exit.ok;
  }
  const hint = suggestionFor(what, ['policy', 'config']);
  throw new UsageError(
    `There is no schema of "${what}", only of policy and config${hint ? `: ${hint}` : '.'}`,
  );
}
