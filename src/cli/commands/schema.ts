import { suggestionFor } from '../../suggest.ts';
import { exit, UsageError } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';

export const kinds = ['policy', 'config', 'tests'];

/** Prints the JSON Schema of one kind of file, or of all in one object. */
export async function schema(terminal: Terminal, what: string | undefined): Promise<number> {
  if (what !== undefined && !kinds.includes(what)) throw noSchema(what);
  const [{ loadJobs }, { policyFileJsonSchema }, { configFileJsonSchema }, { testFileJsonSchema }] =
    await Promise.all([
      import('../../app/jobs.ts'),
      import('../../policy/policy-file-schema.ts'),
      import('../../settings/config-file.ts'),
      import('../../offline/tests/test-file.ts'),
    ]);
  const registry = await loadJobs();
  const schemas: Record<string, () => object> = {
    policy: () => policyFileJsonSchema(registry),
    config: configFileJsonSchema,
    tests: testFileJsonSchema,
  };
  const wanted = what === undefined ? undefined : schemas[what];
  if (wanted) terminal.json(wanted());
  else terminal.json(Object.fromEntries(Object.entries(schemas).map(([name, of]) => [name, of()])));
  return exit.ok;
}

function noSchema(what: string): UsageError {
  const hint = suggestionFor(what, kinds);
  return new UsageError(`There is no schema "${what}"${hint ? `: ${hint}` : '.'}`);
}
