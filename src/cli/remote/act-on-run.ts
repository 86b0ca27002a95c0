/** Finds a run of a server, and carries out a command about it. */

import { toRun } from '../../run/from-report.ts';
import type { RunSummary } from '../../run/report.ts';
import type { Run } from '../../run/run.ts';
import type { Acted } from '../act-on-run.ts';
import { exit, UsageError } from '../exit.ts';
import { noRuns, notOne } from '../run-id.ts';
import { type Server, ServerRefusedError } from './server.ts';

export const runPathOf = (id: string): string => `/runs/${encodeURIComponent(id)}`;

/** The maximum number of runs that are searched for an id that begins with a word. */
const MAX_SEARCHED = 1_000;
/** The same for one that was not skipped. */
const MAX_SKIPPED = 100;

/**
 * The run with this id, the only one whose id begins with it, or the newest one (`last`).
 *
 * @throws {UsageError} when there is no such run, or when several ids start with `word`.
 */
export async function runNamed(server: Server, word: string): Promise<Run> {
  const list = async (limit: number) => (await server.get<{ runs: RunSummary[] }>('/runs', { limit })).runs;
  if (word === 'last') {
    const runs = await list(MAX_SKIPPED);
    const newest = runs.find(({ status }) => status !== 'skipped') ?? runs[0];
    if (!newest) throw noRuns();
    return toRun(newest);
  }
  const exact = await foundOr404(() => readSummary(server, word));
  if (exact) return exact;
  const [first, ...others] = (await list(MAX_SEARCHED)).filter((one) => one.run.startsWith(word));
  if (first && others.length === 0) return toRun(first);
  throw notOne(
    word,
    [first, ...others].flatMap((one) => one?.run ?? []),
  );
}

/** A run without its targets. */
export const readSummary = async (server: Server, id: string): Promise<Run> =>
  toRun(await server.get<RunSummary>(runPathOf(id), { targets: 'false' }));

/** What is read; undefined when the server does not have it. */
export async function foundOr404<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServerRefusedError && error.status === 404) return undefined;
    throw error;
  }
}

/** What the words of a command line do not allow is an error of usage, as without a server. */
export async function asUsage<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    const isUsage =
      error instanceof ServerRefusedError && ['INVALID_REQUEST', 'NOT_FOUND'].includes(error.code);
    throw isUsage ? new UsageError(error.message) : error;
  }
}

/** The process that works on a run, in words; undefined when there is none. */
export const processOf = async (server: Server, { id }: Pick<Run, 'id'>): Promise<string | undefined> =>
  (await server.get<{ process: string | null }>(`${runPathOf(id)}/process`)).process ?? undefined;

/** Carries out the command about the run that `word` names, and prints what became of it. */
export async function actOnRun(
  server: Server,
  { command, input = {} }: { command: string; input?: object },
  word: string,
  print: (acted: Acted) => void,
): Promise<number> {
  const { id } = await runNamed(server, word);
  const { run } = await server.post<{ run: RunSummary }>(`${runPathOf(id)}/${command}`, input);
  print({
    id,
    run: toRun(run),
    activeProcess: await processOf(server, { id: run.run }),
    howToContinue: 'It continues when a daemon with the role worker is running.',
  });
  return exit.ok;
}
