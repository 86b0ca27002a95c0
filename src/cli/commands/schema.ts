import { suggestionFor } from '../../suggest.ts';
import { shortFile } from '../../yaml/diagnostic.ts';
import { exit, UsageError } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';
import { loadSchemas, schemaKinds, writeSchemas } from '../schemas.ts';

/** Prints the JSON Schema of one kind of file, or of all in one object; or writes each into a file. */
export async function schema(
  terminal: Terminal,
  what: string | undefined,
  { write }: { write?: string },
): Promise<number> {
  const kind = schemaKinds.find((one) => one === what);
  if (what !== undefined && kind === undefined) throw noSchema(what);
  if (write !== undefined) {
    if (kind !== undefined) throw new UsageError('--write writes every schema: omit the kind of file.');
    for (const { file, isWritten } of await writeSchemas(write))
      terminal.data(`${isWritten ? 'written ' : 'kept    '} ${shortFile(file)}`);
    return exit.ok;
  }
  const schemas = await loadSchemas();
  if (kind !== undefined) terminal.json(schemas[kind]());
  else terminal.json(Object.fromEntries(schemaKinds.map((one) => [one, schemas[one]()])));
  return exit.ok;
}

function noSchema(what: string): UsageError {
  const hint = suggestionFor(what, schemaKinds);
  return new UsageError(`There is no schema "${what}"${hint ? `: ${hint}` : '.'}`);
}
