/** The JSON Schemas of the files that an operator writes, and of saved plans. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The kinds of files that have a schema. */
export const schemaKinds = ['policy', 'config', 'tests', 'plan'] as const;
export type SchemaKind = (typeof schemaKinds)[number];

/** Each schema as a function, because making one takes a while. */
export async function loadSchemas(): Promise<Record<SchemaKind, () => object>> {
  const [
    { loadJobs },
    { policyFileJsonSchema },
    { configFileJsonSchema },
    { testFileJsonSchema },
    { savedPlanJsonSchema },
  ] = await Promise.all([
    import('../app/load-jobs.ts'),
    import('../policy/policy-file-schema.ts'),
    import('../settings/config-file.ts'),
    import('../offline/tests/test-file.ts'),
    import('../engine/plan/saved-plan.ts'),
  ]);
  const registry = await loadJobs();
  return {
    policy: () => policyFileJsonSchema(registry),
    config: configFileJsonSchema,
    tests: testFileJsonSchema,
    plan: savedPlanJsonSchema,
  };
}

/** Writes each schema as `<kind>.json` into a folder. Returns the files, and whether each one is new or changed. */
export async function writeSchemas(folder: string): Promise<{ file: string; isWritten: boolean }[]> {
  const schemas = await loadSchemas();
  mkdirSync(folder, { recursive: true });
  // No one writes a saved plan manually.
  return schemaKinds
    .filter((kind) => kind !== 'plan')
    .map((kind) => {
      const file = join(folder, `${kind}.json`);
      const text = `${JSON.stringify(schemas[kind]())}\n`;
      const isWritten = textOf(file) !== text;
      if (isWritten) writeFileSync(file, text);
      return { file, isWritten };
    });
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // There is none yet.
    return undefined;
  }
}
