/** The values of arguments and options, by their names. Each is read from where the command itself reads it. */
import type { OperationId } from '../../contract/operations.ts';
import type { Log } from '../../log.ts';
import { isFinal } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import { faultNames, faultSets } from '../../sandbox/faults/names.ts';
import type { Settings } from '../../settings/settings.ts';
import { hasRecords, readSettings } from '../context.ts';
import type { Terminal } from '../output/terminal.ts';
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

/** A person waits for completion. Later answers are not used. */
const TIME_LIMIT_MS = 1_000;
const MAX_RUNS = 50;

/** The runs that a command can work on: nothing is offered that it would refuse. */
const usable: Readonly<Record<string, (run: Run) => boolean>> = {
  cancel: ({ status }) => !isFinal(status),
  continue: ({ status }) => !isFinal(status),
  release: ({ held }) => held !== undefined,
  retry: ({ status, counts }) => isFinal(status) && counts.failed > 0,
};

/** The ids of the newest runs, and `last`; none when Redis does not answer within a second. */
async function runIds(settings: Settings, known: { command: string; typed: string }): Promise<string[]> {
  if (!hasRecords(settings)) return [];
  const late = new Promise<string[]>((resolve) => {
    setTimeout(() => resolve([]), TIME_LIMIT_MS).unref();
  });
  return Promise.race([read(settings, known), late]);
}

/** Reads without migrating the records: that is for commands that a person starts. */
async function read(
  settings: Settings,
  { command, typed }: { command: string; typed: string },
): Promise<string[]> {
  const [{ connectRedis }, { RunStore }] = await Promise.all([
    import('../../redis/connect.ts'),
    import('../../records/run-store.ts'),
  ]);
  const redis = await connectRedis(settings.redis, settings.dataDir, silent);
  try {
    const runs = new RunStore(redis.store);
    const isUsable = usable[command] ?? (() => true);
    const newest = (await runs.list({ limit: MAX_RUNS })).filter(isUsable).map(({ id }) => id);
    const last = newest.length > 0 ? ['last'] : [];
    if (typed === '' || newest.some((id) => id.startsWith(typed))) return [...last, ...newest];
    return [...last, ...(await runs.startingWith(typed, MAX_RUNS))];
  } finally {
    await redis.close();
  }
}

const nothing = (): void => undefined;
const silent: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silent };
