/**
 * The list of runs with its filters, the same for the page, the command and the HTTP API. The records find runs by time,
 * policy and status. Runs for any other filter are looked for among the newest ones, at most `MAX_LOOKED` a page;
 * then the list says where to continue.
 */

import { NoRunError } from '../engine/errors.ts';
import { isAnyOf, type OneOrSome } from '../records/filter-values.ts';
import type { RunPlace, RunQuery } from '../records/run-query.ts';
import type { ReasonCount } from '../records/target-types.ts';
import { isFinal } from '../run/moves.ts';
import { type Run, type RunStatus, runStatuses, type Trigger } from '../run/run.ts';
import type { ActSubject, BaseDeps } from './command.ts';
import { InvalidRequestError } from './errors.ts';

/** What a run can be listed by: `active` is every status of one that has not ended. */
export const statusFilters = ['active', ...runStatuses] as const;

export interface RunFilter {
  status?: OneOrSome<RunStatus | 'active'>;
  policy?: OneOrSome<string>;
  trigger?: OneOrSome<Trigger>;
  account?: OneOrSome<string>;
  /** At least one target ended for this reason. */
  reason?: OneOrSome<string>;
  /** Created at or after this time. */
  since?: number | undefined;
  /** Created before this time. */
  until?: number | undefined;
}

export interface RunPage {
  runs: Run[];
  /** The `after` of the next page; missing at the end. */
  next?: string;
  /** The page is not full, because as many runs were looked at as one page may cost. */
  looked?: number;
}

/** At most this many runs are read for one page. */
const MAX_LOOKED = 2_000;
const CHUNK = 200;

/** Where runs are read; it knows only what its principal may see. */
export interface RunReader {
  runs(query: RunQuery): Promise<Run[]>;
  /** For each of these runs, how many targets ended for which reason. */
  reasons(runs: readonly string[]): Promise<ReadonlyMap<string, readonly ReasonCount[]>>;
}

/**
 * The newest runs that match, at most `limit`.
 *
 * @throws {InvalidRequestError} when `after` is not the `next` of a page.
 */
export async function listRuns(
  reader: RunReader,
  filter: RunFilter,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<RunPage> {
  const isIndexed = !filter.trigger && !filter.account && !filter.reason;
  const found: Run[] = [];
  let looked = 0;
  let last: Run | undefined;
  for await (const chunk of chunksOf(reader, filter, placeIn(after), isIndexed ? limit + 1 : CHUNK)) {
    found.push(...(await matching(reader, filter, chunk)));
    looked += chunk.length;
    last = chunk.at(-1);
    if (found.length > limit) break;
    if (!isIndexed && looked >= MAX_LOOKED) break;
  }
  const runs = found.slice(0, limit);
  const end = runs.at(-1);
  if (found.length > limit && end) return { runs, next: placeText(end) };
  if (!isIndexed && looked >= MAX_LOOKED && last) return { runs, next: placeText(last), looked };
  return { runs };
}

/** A chunk at a time. */
async function* chunksOf(
  reader: RunReader,
  { policy, status, since, until }: RunFilter,
  first: RunPlace | undefined,
  limit: number,
): AsyncGenerator<Run[]> {
  const statuses =
    status === undefined
      ? undefined
      : runStatuses.filter((one) =>
          isAnyOf(status, (wanted) => (wanted === 'active' ? !isFinal(one) : wanted === one)),
        );
  for (let after = first; ; ) {
    const runs = await reader.runs({ policy, status: statuses, since, until, after, limit });
    if (runs.length > 0) yield runs;
    if (runs.length < limit) return;
    after = runs.at(-1);
  }
}

async function matching(
  reader: RunReader,
  { trigger, account, reason }: RunFilter,
  runs: readonly Run[],
): Promise<readonly Run[]> {
  const found = runs.filter(
    (run) => isAnyOf(trigger, (one) => run.trigger === one) && isAnyOf(account, (one) => run.account === one),
  );
  if (reason === undefined) return found;
  const reasons = await reader.reasons(found.map(({ id }) => id));
  return found.filter(({ id }) =>
    isAnyOf(reason, (wanted) => reasons.get(id)?.some((one) => one.reason === wanted) ?? false),
  );
}

const placeText = ({ createdAt, id }: RunPlace): string => `${createdAt}_${id}`;

/** @throws {InvalidRequestError} */
function placeIn(text: string | undefined): RunPlace | undefined {
  if (text === undefined) return undefined;
  const [, at, id] = /^(\d{1,15})_(.+)$/.exec(text) ?? [];
  if (at === undefined || id === undefined)
    throw new InvalidRequestError(`"${text}" is not the next of a list of runs (after).`);
  return { createdAt: Number(at), id };
}

/** @throws {NoRunError} */
export async function runOf({ records }: Pick<BaseDeps, 'records'>, id: string): Promise<Run> {
  const run = await records.runs.get(id);
  if (!run) throw new NoRunError(id);
  return run;
}

export const subjectOfRun = async (
  { run: id }: { run: string },
  deps: Pick<BaseDeps, 'records'>,
): Promise<ActSubject> => {
  const { policy, account } = await runOf(deps, id);
  return { policy, account, run: id };
};
