/**
 * The result of the scheduled times of a policy, together with the runs that no scheduled time made: manual runs,
 * retries, backfills. Newest first, by the page.
 */
import type { ScheduledTime } from '../../records/ledger-store.ts';
import type { Run } from '../../run/run.ts';
import type { Reader } from './reader.ts';

/** One line: a scheduled time with its run, if it made one that is still stored; or a run without a scheduled time. */
export interface HistoryEntry {
  at: number;
  time?: ScheduledTime;
  run?: Run | undefined;
}

export interface HistoryPage {
  entries: HistoryEntry[];
  /** The time before which the next page begins; missing when nothing older is recorded. */
  next?: number;
}

/** At most this many runs are read for one page, in addition to those of its scheduled times. */
const MAX_RUNS = 300;

/** A page of at least `limit` entries, or all that there are. Entries of one time are on the same page. */
export async function readHistory(
  reader: Pick<Reader, 'ledger' | 'runs' | 'runsOf'>,
  policy: string,
  { limit, before }: { limit: number; before?: number | undefined },
): Promise<HistoryPage> {
  const times = await reader.ledger(policy, limit + 1, before);
  const since = times.length > limit ? times.at(-1)?.scheduledFor : undefined;
  const ids = times.flatMap(({ run }) => run ?? []);
  const [ofTimes, created] = await Promise.all([
    reader.runsOf(ids),
    reader.runs({
      policy,
      limit: MAX_RUNS,
      since,
      until: before,
    }),
  ]);
  const runs = new Map(ofTimes.map((run) => [run.id, run]));
  const entries = [
    ...times.map((time): HistoryEntry => {
      const run = time.run === undefined ? undefined : runs.get(time.run);
      return { at: time.scheduledFor, time, ...(run ? { run } : {}) };
    }),
    ...created
      .filter((run) => !ids.includes(run.id) && !isOnOlderPage(run, since))
      .map((run): HistoryEntry => ({ at: run.createdAt, run })),
  ].sort((a, b) => b.at - a.at);
  // Older runs were not read, so nothing older is shown on this page.
  const floor = created.length === MAX_RUNS ? created.at(-1)?.createdAt : undefined;
  const read = floor === undefined ? entries : entries.filter(({ at }) => at >= floor);
  const last = read[limit - 1];
  const shown = last ? read.filter(({ at }) => at >= last.at) : read;
  if (shown.length < entries.length) return { entries: shown, next: shown.at(-1)?.at ?? floor ?? 0 };
  return { entries: shown };
}

/** The record of its scheduled time is older than this page, although the run was created later. */
const isOnOlderPage = ({ trigger, scheduledFor }: Run, since: number | undefined): boolean =>
  since !== undefined &&
  scheduledFor < since &&
  (trigger === 'schedule' || trigger === 'catch-up' || trigger === 'after');
