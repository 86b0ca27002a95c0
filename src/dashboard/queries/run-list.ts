/**
 * The list of runs with its filters. The records find runs by time, and by policy or status. Runs for any other
 * filter are looked for among the newest ones, at most `MAX_LOOKED` a page; then the list says where to continue.
 */
import type { ReasonCount } from '../../records/reason-count.ts';
import type { RunQuery } from '../../records/run-query.ts';
import { isFinal } from '../../run/moves.ts';
import type { Run, RunStatus, Trigger } from '../../run/run.ts';
import { nextRunPage } from './paging.ts';
import type { Reader } from './reader.ts';

export interface RunFilter {
  /** `active`: has not ended. */
  status?: RunStatus | 'active' | undefined;
  policy?: string | undefined;
  trigger?: Trigger | undefined;
  account?: string | undefined;
  /** At least one target ended for this reason. */
  reason?: string | undefined;
  /** Created at or after this time. */
  since?: number | undefined;
  /** Created before this time. */
  until?: number | undefined;
}

export interface RunPage {
  runs: Run[];
  /** For each of these runs, how many targets ended for which reason. */
  reasons: ReadonlyMap<string, readonly ReasonCount[]>;
  /** The time before which the next page begins; missing after the last run. */
  next?: number;
  /** The page is not full, because as many runs were looked at as one page may cost. */
  looked?: number;
}

/** At most so many runs are read for one page. */
export const MAX_LOOKED = 2_000;
const CHUNK = 200;

type RunReader = Pick<Reader, 'runs' | 'reasons'>;

/** The newest runs that match, at most `limit`. */
export async function readRunPage(
  reader: RunReader,
  filter: RunFilter,
  { limit, before }: { limit: number; before?: number | undefined },
): Promise<RunPage> {
  const isIndexed = !filter.trigger && !filter.account && !filter.reason && filter.status !== 'active';
  const found: Run[] = [];
  let looked = 0;
  let last: Run | undefined;
  const chunks = chunksOf(reader, filter, before, isIndexed ? limit + 1 : CHUNK);
  for await (const chunk of chunks) {
    found.push(...(await matching(reader, filter, chunk)));
    looked += chunk.length;
    last = chunk.at(-1);
    if (found.length > limit) break;
    if (!isIndexed && looked >= MAX_LOOKED) break;
  }
  const runs = found.slice(0, limit);
  const reasons = await reader.reasons(runs.map(({ id }) => id));
  const next = nextRunPage(found, limit);
  if (next !== undefined) return { runs, reasons, next };
  // One more millisecond, since others may have been created in the same one.
  if (!isIndexed && looked >= MAX_LOOKED && last) return { runs, reasons, next: last.createdAt + 1, looked };
  return { runs, reasons };
}

/** Every run that matches, newest first: for a file. */
export async function* allRuns(reader: RunReader, filter: RunFilter): AsyncGenerator<Run> {
  for await (const chunk of chunksOf(reader, filter, undefined, CHUNK)) {
    yield* await matching(reader, filter, chunk);
  }
}

/** The runs that the records find, each once, a chunk at a time. */
async function* chunksOf(
  reader: RunReader,
  filter: RunFilter,
  before: number | undefined,
  size: number,
): AsyncGenerator<Run[]> {
  const read = new Set<string>();
  const indexed = indexedBy(filter);
  let end = Math.min(before ?? Number.POSITIVE_INFINITY, filter.until ?? Number.POSITIVE_INFINITY);
  for (;;) {
    const page = await reader.runs({
      ...indexed,
      limit: size,
      ...(Number.isFinite(end) ? { before: end } : {}),
    });
    const fresh = page.filter(({ id }) => !read.has(id));
    if (fresh.length > 0) yield fresh;
    const last = page.at(-1);
    if (!last || page.length < size) return;
    for (const { id } of fresh) read.add(id);
    // Runs of the same millisecond may continue on the next chunk.
    end = fresh.length > 0 ? last.createdAt + 1 : last.createdAt;
  }
}

/** The conditions that the records know. */
const indexedBy = ({ policy, status, since }: RunFilter): Omit<RunQuery, 'limit'> => ({
  ...(policy ? { policy } : {}),
  ...(status && status !== 'active' ? { status } : {}),
  ...(since === undefined ? {} : { since }),
});

async function matching(reader: RunReader, filter: RunFilter, runs: readonly Run[]): Promise<Run[]> {
  const { status, trigger, account, reason } = filter;
  const found = runs.filter(
    (run) =>
      (status !== 'active' || !isFinal(run.status)) &&
      (!trigger || run.trigger === trigger) &&
      (!account || run.account === account),
  );
  if (!reason) return found;
  const reasons = await reader.reasons(found.map(({ id }) => id));
  return found.filter(({ id }) => reasons.get(id)?.some((one) => one.reason === reason));
}
