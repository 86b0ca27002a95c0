/** The values of arguments and options, by their names. Each is read from where the command itself reads it. */
import type { OperationId } from '../../contract/operations.ts';
import { faultNames, faultSets } from '../../sandbox/faults/names.ts';
import type { Settings } from '../../settings/settings.ts';
import { readSettings } from '../context.ts';
import type { Terminal } from '../output/terminal.ts';
import { runIds } from './run-ids.ts';
import { scripts } from './scripts.ts';

/** What is known where a value is typed. */
export interface Known {
  command: string;
  parent: string | undefined;
  /** The arguments before it. */
  given: readonly string[];
  /** The beginning of the value. */
  typed: string;
  /** The file of `--config`. */
  config: string | undefined;
  terminal: Pick<Terminal, 'io'>;
}

/** Values of an argument or an option. Files have none: the shell completes them. */
export async function valuesOf(name: string, known: Known): Promise<readonly string[]> {
  const source = Object.hasOwn(sources, name) ? sources[name] : undefined;
  if (!source) return [];
  try {
    return await source(known);
  } catch {
    // The command itself reports errors. Completion must not print any.
    return [];
  }
}

type Source = (known: Known) => Promise<readonly string[]>;

const settingsFor = ({ config, terminal }: Known): Settings =>
  readSettings(terminal, config === undefined ? {} : { config });

const policies: Source = async (known) => {
  const { policiesOf } = await import('../context.ts');
  return (await policiesOf(settingsFor(known))).policies.map(({ name }) => name);
};

const sources: Readonly<Record<string, Source>> = {
  policy: policies,
  name: (known) => (known.parent === 'policies' ? policies(known) : Promise.resolve([])),
  job: async () => (await (await import('../../app/load-jobs.ts')).loadJobs()).names(),
  account: async (known) => Object.keys(settingsFor(known).accounts),
  run: (known) => runIds(settingsFor(known), known),
  status: async () => (await import('../../run/run.ts')).runStatuses,
  roles: async () => (await import('../../app/roles.ts')).roles,
  faults: async () => [...Object.keys(faultSets), ...Object.keys(faultNames)],
  operation: async () => Object.keys((await import('../../contract/operations.ts')).operations),
  param: (known) => ofOperation(known, (id) => parametersOf(id)),
  filter: (known) => ofOperation(known, (id) => filtersOf(id)),
  sort: (known) => ofOperation(known, (id) => sortsOf(id)),
  shell: async () => Object.keys(scripts),
  what: async ({ command }) =>
    command === 'audit'
      ? (await import('../../control/commands.ts')).commands
          .filter(({ reads }) => !reads)
          .map(({ name }) => name)
      : (await import('../schemas.ts')).schemaKinds,
  word: async ({ command }) => (command === 'explain' ? wordsToExplain() : []),
};

async function ofOperation(
  { given }: Known,
  values: (id: OperationId) => Promise<string[]>,
): Promise<string[]> {
  const { isOperationId } = await import('../../contract/operations.ts');
  const [id] = given;
  return id !== undefined && isOperationId(id) ? values(id) : [];
}

async function parametersOf(id: OperationId): Promise<string[]> {
  const { operationOf } = await import('../../contract/operations.ts');
  const { pathParameters } = await import('../../contract/operation.ts');
  const { path, query, list } = operationOf(id);
  const names = [...pathParameters(path), ...Object.keys(query?.shape ?? {})];
  const ofLists = list
    ? [...(list.paged ? ['page', 'perPage'] : []), ...(list.timezone ? ['timezone'] : [])]
    : [];
  return [...names, ...ofLists].map((name) => `${name}=`);
}

/** `field:operator=`, or with each value where there are few. */
async function filtersOf(id: OperationId): Promise<string[]> {
  const { operationOf } = await import('../../contract/operations.ts');
  return Object.entries(operationOf(id).list?.filters ?? {}).flatMap(([field, { operators, values }]) =>
    operators.flatMap((operator) => {
      const start = `${field}:${operator}=`;
      return values ? values.map((value) => start + value) : [start];
    }),
  );
}

async function sortsOf(id: OperationId): Promise<string[]> {
  const { operationOf } = await import('../../contract/operations.ts');
  return (operationOf(id).list?.sorts ?? []).flatMap((field) => [`${field},asc`, `${field},desc`]);
}

async function wordsToExplain(): Promise<string[]> {
  const { loadTopics } = await import('../explain/topics.ts');
  const loaded = await loadTopics();
  return [...new Set(loaded.flatMap((topics) => topics.names()))];
}
