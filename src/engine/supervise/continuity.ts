/**
 * Detects that Redis was restored to an older state, or emptied, while this process runs or before it was
 * started.
 *
 * The process remembers the number of `records/generation-store.ts`, and writes it into the data folder
 * within a second after it was raised. When Redis has a smaller number, every run that has not ended there is
 * held, and scheduled runs that were due meanwhile are skipped: their work may have been done already.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type Clock, isoMinute } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Records } from '../../records/records.ts';
import { isFinal } from '../../run/moves.ts';
import type { Held, Run } from '../../run/run.ts';
import type { EngineDeps } from '../deps.ts';

// Holds the runs that had not ended in an older state of Redis, until a person releases them.
//
// It is not known what was done after that state was written: a target that it shows as not started may have
// had its effect. So nothing new of such a run is started. Followed work continues to its end, as in any run.

export const heldSince = ({ since }: Held): string =>
  `Redis was restored to its state of ${isoMinute(since)}, and it is not known what the run did after that`;

/**
 * Holds every run of every account that has not ended. Returns all of them, also those that another process
 * held first.
 */
export async function holdRuns(deps: Pick<EngineDeps, 'records' | 'log'>, held: Held): Promise<Run[]> {
  const { records, log } = deps;
  const found: Run[] = [];
  for (const account of await records.runs.activeAccounts()) {
    for (const run of await records.runs.active(account)) {
      if (isFinal(run.status)) continue;
      const detail = `The run is held: ${heldSince(held)}. "caretaker runs resume ${run.id} --release" continues it, which may change targets a second time; "caretaker runs cancel ${run.id}" ends it.`;
      if (await records.runs.hold(run, held, detail)) log.warn({ run: run.id }, detail);
      found.push(run);
    }
  }
  return found;
}

export interface Continuity {
  /** Checks now. Resolves when the result has been handled. */
  check(): Promise<void>;
  /** Stops checking; writes the remembered number to the file. */
  close(): Promise<void>;
}

/** How often the number is raised; and how often it is written to the file, if any process raised it. */
const RAISE_INTERVAL_MS = 5_000;
const WRITE_INTERVAL_MS = 1_000;
/** Runs that were due this long before the older state was written may have been recorded only after it. */
const MARGIN_MS = 60_000;
/** How many Redis servers the file remembers. */
const MAX_REMEMBERED = 10;

/** Checks once, and then every few seconds. */
export async function openContinuity({
  records,
  prepare,
  dataDir,
  clock,
  log,
}: {
  records: Records;
  /**
   * Migrates the records to the version of this release: an older state may hold records of an older version.
   */
  prepare(): Promise<void>;
  dataDir: string;
  clock: Clock;
  log: Log;
}): Promise<Continuity> {
  const { generation } = records;
  const file = join(dataDir, 'generations.json');
  const closing = new AbortController();
  let written = '';

  const remember = () => {
    const { id, number } = generation.remembered;
    const text = `${id} ${number}`;
    if (id === '' || text === written) return;
    try {
      write(file, dataDir, { id, number, at: clock.now() });
      written = text;
    } catch (error) {
      log.debug({ err: error }, 'the generation of the records could not be written to the data folder');
      written = text;
    }
  };
  const checkNow = async () => {
    await prepare();
    const now = clock.now();
    const seen = await generation.raise(now);
    if (seen.is === 'emptied') {
      log.error(
        'Redis was emptied, or is another server than before: runs, pauses and the records of scheduled times are gone. Runs that had not ended are lost; policies run at their next scheduled times.',
      );
    }
    // That may have happened after the records were prepared.
    if (seen.is !== 'current') await prepare();
    if (seen.is === 'older') {
      const runs = await holdWork({ records, log }, { at: now, since: seen.at });
      if (await generation.continueFromOlder(seen, now)) await skipTimes(records, seen.at, now);
      log.error(
        { held: runs.length },
        `Redis was restored to its state of ${isoMinute(seen.at)}: it is not known what was done after that. Runs that had not ended are held: ${runs.length} ("caretaker runs" lists them), and runs that were due meanwhile are skipped ("caretaker backfill" runs them).`,
      );
    }
    remember();
  };

  // One check at a time, so that a loss is handled and logged once.
  let inProgress: Promise<void> | undefined;
  const check = () => {
    inProgress ??= checkNow().finally(() => {
      inProgress = undefined;
    });
    return inProgress;
  };

  const known = await generation.name();
  const number = known === undefined ? undefined : read(file)[known]?.number;
  if (known !== undefined && number !== undefined) generation.remember({ id: known, number });
  await check();
  let raisedAt = clock.now();
  const loop = (async () => {
    while (!closing.signal.aborted) {
      await clock.sleep(WRITE_INTERVAL_MS, closing.signal);
      if (closing.signal.aborted) return;
      remember();
      // Its clock may have gone back meanwhile, as that of another Redis would.
      if (Math.abs(clock.now() - raisedAt) < RAISE_INTERVAL_MS) continue;
      raisedAt = clock.now();
      await check().catch((error: unknown) =>
        log.debug({ err: error }, 'the generation of the records could not be read from Redis'),
      );
    }
  })();
  return {
    check,
    async close() {
      closing.abort();
      // Not awaited: Redis may be unavailable.
      void loop;
      remember();
    },
  };
}

/** Holds what an older state shows as in progress: nothing of it is sent until a person decides. Returns the runs. */
async function holdWork(deps: { records: Records; log: Log }, held: Held): Promise<Run[]> {
  const runs = await holdRuns(deps, held);
  await deps.records.outbox.postpone(held.at);
  return runs;
}

/** The times that were due between the older state and now are skipped: they may have had their run. */
async function skipTimes(records: Records, since: number, now: number): Promise<void> {
  const reason = `Redis was restored to its state of ${isoMinute(since)}`;
  await records.freeze.note({ at: since - MARGIN_MS, until: now, by: 'caretaker', reason });
}

/**
 * Does with records that were restored from a backup what a process does when it notices that Redis has an older
 * state: it is not known what was done after `since`. Returns the runs that are held.
 */
export async function acceptRestored(
  { records, log }: { records: Records; log: Log },
  { since, now }: { since: number; now: number },
): Promise<Run[]> {
  const runs = await holdWork({ records, log }, { at: now, since });
  await skipTimes(records, since, now);
  await records.generation.begin(now);
  return runs;
}

const Remembered = z.record(z.string(), z.object({ number: z.number(), at: z.number() }));
type Remembered = z.output<typeof Remembered>;

function read(file: string): Remembered {
  try {
    return Remembered.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return {};
  }
}

/**
 * Several processes may share the folder. The higher number wins, and a reader always sees a complete file.
 */
function write(
  file: string,
  dir: string,
  { id, number, at }: { id: string; number: number; at: number },
): void {
  mkdirSync(dir, { recursive: true });
  const before = read(file);
  const now = { ...before, [id]: { number: Math.max(number, before[id]?.number ?? 0), at } };
  const newest = Object.entries(now)
    .sort(([, a], [, b]) => b.at - a.at)
    .slice(0, MAX_REMEMBERED);
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, JSON.stringify(Object.fromEntries(newest)), { mode: 0o600 });
  renameSync(fresh, file);
}
