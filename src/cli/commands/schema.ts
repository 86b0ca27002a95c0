import { suggestionFor } from '../../suggest.ts';
import { exit, UsageError } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';

/** Prints the JSON Schema of one kind of file, for editors, or of both in one object. */
export async function schema(terminal: Terminal, what: string | undefined): Promise<number> {
  const [{ policyFileJsonSchema }, { configFileJsonSchema }] = await Promise.all([
    import('../../policy/policy-file.ts'),
    import('../../settings/config-file.ts'),
  ]);
  if (what === undefined) terminal.json({ policy: policyFileJsonSchema(), config: configFileJsonSchema() });
  else if (what === 'policy') terminal.json(policyFileJsonSchema());
  else if (what === 'config') terminal.json(configFileJsonSchema());
  else throw noSchema(what);
  return exit.ok;
}

function noSchema(what: string): UsageError {
  const hint = suggestionFor(what, ['policy', 'config']);
  return new UsageError(`There is no schema of "${what}"${hint ? `: ${hint}` : '.'}`);
}
