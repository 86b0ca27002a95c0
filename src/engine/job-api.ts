/** The interface to the service that jobs are given, and what jobs learn about their run and earlier runs. */
import type { CallOptions } from '../client/call-options.ts';
import type { Client } from '../client/client.ts';
import { allItems, type Incomplete } from '../client/pages.ts';
import type { Input, OperationId } from '../contract/operations.ts';
import { operationOf } from '../contract/operations.ts';
import type { Api, JobApi } from '../job/api.ts';
import type { EarlierTarget, RunContext } from '../job/job.ts';
import { Rings } from '../job/look.ts';
import type { Policy } from '../policy/policy.ts';
import { isFinal } from '../run/moves.ts';
import type { Run } from '../run/run.ts';
import type { PlanDeps, PlanRecords } from './deps.ts';

/** Sends one operation. */
export type Call = (operation: OperationId, input: never, note?: string) => Promise<unknown>;

/**
 * Creates the interface that a job is given. Every operation goes through `call`. `onIncomplete` is called at the end
 * of a list that is known to be incomplete.
 */
export function createJobApi(
  client: Pick<Client, 'serviceTime' | 'download'>,
  options: CallOptions,
  call: Call,
  onIncomplete?: (incomplete: Incomplete) => void,
): JobApi {
  const api = new Proxy({} as Api, {
    get: (_, operation) => (input: never, note?: string) => call(operation as OperationId, input, note),
  });
  return {
    api,
    all: (list, query) =>
      allItems(list, (page) => call(list, { ...query, ...page } as never), { onIncomplete }),
    serviceTime: (at) => client.serviceTime(at, options),
    download: (operation, input: Input<'downloadReport'>) =>
      client.download(operation, { ...input }, options),
  };
}

/** A call that refuses operations with an effect: planning and following change nothing. */
export const readOnlyCall =
  (client: Client, options: CallOptions): Call =>
  (operation, input) => {
    if (operationOf(operation).effect === undefined) return client.call(operation, input, options);
    throw new Error(`Only "act" may change something; ${operation} has an effect.`);
  };

/** How many runs of a policy are searched for whole runs. */
const LOOK_BACK = 50;

/**
 * The whole runs of a policy, newest first: those that covered everything the policy selects and whose plan
 * was completed. With `before`, only runs that are older than it.
 */
export async function* wholeRuns(
  { records }: Pick<PlanDeps, 'records'>,
  policy: string,
  before: Run | undefined,
): AsyncGenerator<Run> {
  for (const run of await records.runs.list({ policy, limit: LOOK_BACK })) {
    if (run.id === before?.id || (before && run.createdAt >= before.createdAt)) continue;
    if (await isWhole(records, run)) yield run;
  }
}

/** Whether a run has ended that covered everything that its policy selects, with a complete plan. */
export async function isWhole({ runs }: PlanDeps['records'], run: Run): Promise<boolean> {
  if (!isFinal(run.status) || !run.planComplete || run.retryOf) return false;
  return (await runs.only(run.id)).length === 0;
}

/** When planning of the policy's last whole run started. */
export async function previousAt(
  deps: Pick<PlanDeps, 'records'>,
  policy: string,
  before: Run | undefined,
): Promise<number | undefined> {
  for await (const run of wholeRuns(deps, policy, before)) return run.startedAt;
  return undefined;
}

/**
 * The outcomes of the targets of a policy's last whole runs in the same account, newest run first. A retry
 * sees the same earlier runs as the run that it retries, so the retried run is not among them.
 */
export async function* earlierTargets(
  deps: Pick<PlanDeps, 'records'>,
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

/** The targets that the policy's last whole run did not begin, because its window was over. */
export async function leftByWindow(
  deps: Pick<PlanDeps, 'records'>,
  { name, window }: Policy,
  before: Run,
): Promise<string[]> {
  if (!window) return [];
  for await (const run of wholeRuns(deps, name, before)) {
    if (run.ending !== 'window-over') return [];
    const left: string[] = [];
    for await (const { id, reason } of deps.records.targets.all(run.id))
      if (reason === 'window-over') left.push(id);
    return left;
  }
  return [];
}

/** The run that a retry repeats: for a retry of a retry, the first one. Any other run is returned itself. */
async function retried(
  { records }: Pick<PlanDeps, 'records'>,
  run: Run | undefined,
): Promise<Run | undefined> {
  const of = run?.retryOf === undefined ? undefined : await records.runs.get(run.retryOf);
  return of ? retried({ records }, of) : run;
}

/** The run context that jobs are given. */
export const runContextOf = (policy: Policy, at: number): RunContext => ({
  policy: policy.name,
  at,
  timezone: policy.schedule?.timezone ?? 'UTC',
  ...(policy.approval && { needsApproval: true }),
});

/** What the policy's last run saw of its rings; undefined also for a record of another form. */
export async function lastLook(
  { looks }: Pick<PlanRecords, 'looks'>,
  account: string,
  policy: string,
): Promise<Rings | undefined> {
  return Rings.safeParse((await looks.last(account, policy))?.view).data;
}
