/** The service as jobs read it, over an account's client; and what a run is for, as jobs are told. */
import type { CallOptions } from '../client/call-options.ts';
import type { Client } from '../client/client.ts';
import { allItems } from '../client/pages.ts';
import type { Input, OperationId } from '../contract/operations.ts';
import { operationOf } from '../contract/operations.ts';
import type { Api, JobApi } from '../job/api.ts';
import type { EarlierTarget, RunContext } from '../job/job.ts';
import type { Policy } from '../policy/policy.ts';
import { isFinal } from '../run/moves.ts';
import type { Run } from '../run/run.ts';
import type { EngineDeps } from './deps.ts';

/** Sends one operation, by its name. */
export type Call = (operation: OperationId, input: never, note?: string) => Promise<unknown>;

/** What a job is given to read with. Every operation goes through `call`. */
export function readingOf(client: Client, options: CallOptions, call: Call): JobApi {
  const api = new Proxy({} as Api, {
    get: (_, operation) => (input: never, note?: string) => call(operation as OperationId, input, note),
  });
  return {
    api,
    all: (list, query) => allItems(list, (page) => call(list, { ...query, ...page } as never)),
    serviceTime: (at) => client.serviceTime(at, options),
    download: (operation, input: Input<'downloadReport'>) =>
      client.download(operation, { ...input }, options),
  };
}

/** A call that reads, and refuses whatever would change something: planning and following have no effects. */
export const readOnly =
  (client: Client, options: CallOptions): Call =>
  (operation, input) => {
    if (operationOf(operation).effect === undefined) return client.call(operation, input, options);
    throw new Error(`Only act may change something, and ${operation} would.`);
  };

/** How many runs of a policy are looked through for whole ones. */
const LOOK_BACK = 50;

/**
 * The runs of a policy that were over all it selects, and were planned to the end, newest first; only those
 * before `before`, when it is given.
 */
export async function* wholeRuns(
  { records }: Pick<EngineDeps, 'records'>,
  policy: string,
  before: Run | undefined,
): AsyncGenerator<Run> {
  for (const run of await records.runs.list({ policy, limit: LOOK_BACK })) {
    if (run.id === before?.id || !isFinal(run.status) || !run.planComplete || run.retryOf) continue;
    if (before && run.createdAt >= before.createdAt) continue;
    if ((await records.runs.only(run.id)).length === 0) yield run;
  }
}

/** When the last whole run of a policy began to plan. */
export async function previousAt(
  deps: Pick<EngineDeps, 'records'>,
  policy: string,
  before: Run | undefined,
): Promise<number | undefined> {
  for await (const run of wholeRuns(deps, policy, before)) return run.startedAt;
  return undefined;
}

/**
 * What became of the targets of a policy's last whole runs in the same account, newest run first. A retry
 * sees the time that the run saw which it does again: that run is none of the earlier ones.
 */
export async function* earlierTargets(
  deps: Pick<EngineDeps, 'records'>,
  { name, account }: Policy,
  before: Run | undefined,
): AsyncGenerator<EarlierTarget> {
  for await (const run of wholeRuns(deps, name, await retried(deps, before))) {
    if (run.account !== account) continue;
    const at = run.startedAt ?? run.createdAt;
    for await (const { id, outcome, reason, findings = [] } of deps.records.targets.all(run.id)) {
      yield { at, id, ...(outcome ? { outcome } : {}), ...(reason ? { reason } : {}), findings };
    }
  }
}

/** The run that a retry does again, a retry of a retry the very first; any other run is itself. */
async function retried(
  { records }: Pick<EngineDeps, 'records'>,
  run: Run | undefined,
): Promise<Run | undefined> {
  const of = run?.retryOf === undefined ? undefined : await records.runs.get(run.retryOf);
  return of ? retried({ records }, of) : run;
}

/** What a run of a policy is for. */
export const runContextOf = (policy: Policy, at: number): RunContext => ({
  policy: policy.name,
  at,
  timezone: policy.schedule?.timezone ?? 'UTC',
});
