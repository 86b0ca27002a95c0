/**
 * Notices that Redis was put back to an older state, or emptied, while this process runs or before it was
 * started.
 *
 * The number of `records/generation-store.ts` is remembered by the process, and written into the data folder
 * within a second of being raised. When Redis shows a smaller one, every run that has not ended there is
 * held, and what was due meanwhile is left out: it may have been done already.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type Clock, isoMinute } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Records } from '../../records/records.ts';
import { holdRuns } from './hold.ts';

export interface Continuity {
  /** Looks now. Resolves when what it shows has been dealt with. */
  look(): Promise<void>;
  /** Stops looking; writes down what is remembered. */
  close(): Promise<void>;
}

/** So often the number is raised; and written down when it was raised by anything. */
const RAISE_INTERVAL_MS = 5_000;
const WRITE_INTERVAL_MS = 1_000;
/** What was due so long before the older state was written may have been recorded only after it. */
const MARGIN_MS = 60_000;
/** The file remembers so many Redises that the data folder was used with. */
const MAX_REMEMBERED = 10;

/** Looks once, and from then on every few seconds. */
export async function openContinuity({
  records,
  prepare,
  dataDir,
  clock,
  log,
}: {
  records: Records;
  /**
   * Sees to it that the records have the version of this release: what an older state holds may be of an
   * older one.
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
      log.debug({ err: error }, 'the data folder cannot remember how far the records have come');
      written = text;
    }
  };
  const lookNow = async () => {
    await prepare();
    const now = clock.now();
    const seen = await generation.raise(now);
    if (seen.is === 'emptied') {
      log.error(
        'Redis was emptied, or is another one than before: runs, pauses and the records of scheduled times are gone. Runs that were under way are lost; policies fire from now on.',
      );
    } else if (seen.is === 'older') {
      const held = { at: now, since: seen.at };
      const runs = await holdRuns({ records, log }, held);
      if (await generation.continueFromOlder(seen, now)) {
        const reason = `Redis was put back to its state of ${isoMinute(seen.at)}`;
        await records.freeze.note({ at: seen.at - MARGIN_MS, until: now, by: 'caretaker', reason });
      }
      log.error(
        { held: runs.length },
        `Redis was put back to its state of ${isoMinute(seen.at)}: what was done after that is not known. Runs that had not ended are held: ${runs.length} ("caretaker runs" lists them), and runs that were due meanwhile are skipped ("caretaker backfill" runs them).`,
      );
    }
    remember();
  };

  // One at a time: what Redis shows is dealt with, and told, once.
  let underWay: Promise<void> | undefined;
  const look = () => {
    underWay ??= lookNow().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };

  const known = await generation.name();
  const number = known === undefined ? undefined : read(file)[known]?.number;
  if (known !== undefined && number !== undefined) generation.remember({ id: known, number });
  await look();
  let raisedAt = clock.now();
  const looking = (async () => {
    while (!closing.signal.aborted) {
      await clock.sleep(WRITE_INTERVAL_MS, closing.signal);
      if (closing.signal.aborted) return;
      remember();
      if (clock.now() - raisedAt < RAISE_INTERVAL_MS) continue;
      raisedAt = clock.now();
      await look().catch((error: unknown) =>
        log.debug({ err: error }, 'Redis could not be asked how far it has come'),
      );
    }
  })();
  return {
    look,
    async close() {
      closing.abort();
      // Not waited for: Redis may be away.
      void looking;
      remember();
    },
  };
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
 * Several processes may share the folder: the higher number stays, and a reader sees one of the two files
 * whole.
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
