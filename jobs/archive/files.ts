/**
 * The files of one target, one for each period. A file is replaced as a whole, with what it had and what is new. So
 * the same entries may be stored again at any time, and a process that is killed leaves the file before or after.
 */
import { Readable } from 'node:stream';
import { isoDay } from '../../src/dates.ts';
import {
  ArchiveError,
  type FileName,
  keepFile,
  markOf,
  namesIn,
  pathOf,
  readKept,
  removeKept,
} from '../../src/job/archive/file.ts';
import type { Entry, Format } from './entries.ts';

/** The periods of files, in UTC, and the form of their names. */
const periods = {
  day: { length: 10, form: /^\d{4}-\d{2}-\d{2}$/, months: 0, days: 1 },
  month: { length: 7, form: /^\d{4}-\d{2}$/, months: 1, days: 0 },
} as const;
export type PeriodKind = keyof typeof periods;
/** The file of entries whose time the service does not show. */
const UNDATED = 'undated';

export interface Stored {
  added: number;
  changed: number;
}

export class ArchivedTarget {
  constructor(
    private readonly folder: { dir: string; names: readonly string[] },
    private readonly period: PeriodKind,
    private readonly format: Format,
  ) {}

  /** The time of the newest entry; undefined when there is none. Reads the last file. */
  async newest(): Promise<number | undefined> {
    const last = (await this.periods()).at(-1);
    if (last === undefined) return undefined;
    const times = (await this.read(last)).entries.map(({ at }) => at).filter((at) => !Number.isNaN(at));
    return times.length === 0 ? undefined : times.reduce((newest, at) => Math.max(newest, at));
  }

  /**
   * Stores entries: those that are not there are added, and those that were changed since are replaced. Earlier
   * periods come first, so that the newest entry never hides that older ones are missing.
   *
   * @throws {ArchiveError} when a file cannot be read or written.
   */
  async store(entries: readonly Entry[]): Promise<Stored> {
    const stored = { added: 0, changed: 0 };
    for (const [period, those] of [...byPeriod(entries, this.period)].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const { added, changed } = await this.storeIn(period, those);
      stored.added += added;
      stored.changed += changed;
    }
    return stored;
  }

  /** Removes the files of periods that ended before a time. Gives their number. */
  async removeBefore(time: number): Promise<number> {
    const past = (await this.periods()).filter((name) => endOf(name, this.period) < time);
    for (const name of past) await removeKept(this.file(name));
    return past.length;
  }

  private async storeIn(period: string, entries: readonly Entry[]): Promise<Stored> {
    const { entries: before, mark } = await this.read(period);
    const all = new Map(before.map((entry) => [entry.key, entry]));
    const stored = { added: 0, changed: 0 };
    for (const entry of entries) {
      const known = all.get(entry.key);
      if (known && JSON.stringify(sorted(known)) === JSON.stringify(sorted(entry))) continue;
      stored[known ? 'changed' : 'added'] += 1;
      all.set(entry.key, entry);
    }
    if (stored.added + stored.changed === 0) return stored;
    const inOrder = [...all.values()].sort(
      (a, b) => (a.at || 0) - (b.at || 0) || (a.key < b.key ? -1 : Number(a.key > b.key)),
    );
    const file = this.file(period);
    await keepFile(Readable.from([this.format.write(inOrder)]), {
      ...file,
      stillWanted: async () => (await markOf(file)) === mark,
    });
    return stored;
  }

  private async read(period: string): Promise<{ entries: Entry[]; mark?: string }> {
    const file = this.file(period);
    const kept = await readKept(file);
    if (!kept) return { entries: [] };
    try {
      return { entries: this.format.read(kept.text), mark: kept.mark };
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      throw new ArchiveError(`${pathOf(file)} is not a file of this archive: ${error.message}.`, {
        cause: error,
      });
    }
  }

  private async periods(): Promise<string[]> {
    const names = await namesIn({ ...this.folder, extension: this.format.extension });
    return names.filter((name) => periods[this.period].form.test(name)).sort();
  }

  private file(period: string): FileName {
    const { dir, names } = this.folder;
    return { dir, names: [...names, period], extension: this.format.extension };
  }
}

/** The content of an entry without what is empty, for comparison: a new column alone is no change. */
const sorted = ({ content }: Entry) =>
  Object.entries(content)
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1));

function byPeriod(entries: readonly Entry[], kind: PeriodKind): Map<string, Entry[]> {
  const found = new Map<string, Entry[]>();
  for (const entry of entries) {
    const name = Number.isNaN(entry.at) ? UNDATED : isoDay(entry.at).slice(0, periods[kind].length);
    found.set(name, [...(found.get(name) ?? []), entry]);
  }
  return found;
}

/** The end of a period, in milliseconds since 1970. */
function endOf(name: string, kind: PeriodKind): number {
  const [year = 0, month = 1, day = 1] = name.split('-').map(Number);
  return Date.UTC(year, month - 1 + periods[kind].months, day + periods[kind].days);
}
