/**
 * The items of the lists that a policy joins to its candidates (`select.join`), found by the ids that are compared.
 * They are read once before the candidates and kept in memory until the plan is made.
 */
import { allItems } from '../../client/pages.ts';
import type { Input } from '../../contract/operations.ts';
import { NotShownError } from '../../expression/fields.ts';
import type { Items } from '../../job/job.ts';
import { type Join, sourceOf } from '../../job/source.ts';
import { callOptionsOf, type Planning } from './planning.ts';

/** An item of a joined list, and its position there. */
interface Entry {
  at: number;
  item: unknown;
}

interface Index {
  join: Join;
  byKey: Map<string, Entry[]>;
  /** The items that belong to every candidate. */
  ofAll: Entry[];
  /** An item did not show what it is found by: so it is unknown whose partner it is. */
  unshown?: NotShownError;
}

export class Joined {
  private constructor(private readonly indexes: readonly Index[]) {}

  /** Costs one request per 100 items of each joined list that match its filters. @throws the client's errors */
  static async read(planning: Planning): Promise<Joined> {
    const { policy, job } = planning;
    const indexes: Index[] = [];
    for (const join of sourceOf(job, policy.select).joins) {
      const filters = policy.select.join?.[join.name]?.filters ?? {};
      indexes.push(await readIndex(planning, join, Object.keys(filters).length > 0 ? { filters } : {}));
    }
    return new Joined(indexes);
  }

  /**
   * What belongs to a candidate, by the names of the joins: one item, or null when there is none; or a list in the
   * order of the joined list.
   *
   * @throws {NotShownError} when that depends on something that the service did not show.
   */
  partnersOf(candidate: Items): Items {
    return Object.fromEntries(
      this.indexes.map((index): [string, unknown] => {
        const found = partnersIn(index, candidate);
        const { name, match } = index.join;
        return [name, match.isSingle ? (found[0] ?? null) : found];
      }),
    );
  }
}

async function readIndex(planning: Planning, join: Join, query: object): Promise<Index> {
  const index: Index = { join, byKey: new Map(), ofAll: [] };
  const { list } = join;
  const { onIncomplete } = planning;
  const items = allItems(
    list,
    (page) =>
      planning.client.call(list, { ...query, ...page } as Input<typeof list>, callOptionsOf(planning)),
    { onIncomplete },
  );
  let at = 0;
  for await (const item of items) {
    addTo(index, { at, item });
    at += 1;
  }
  return index;
}

function addTo(index: Index, entry: Entry): void {
  try {
    const keys = index.join.match.keysOf(entry.item);
    if (keys === 'all') index.ofAll.push(entry);
    else for (const key of keys) entriesOf(index, key).push(entry);
  } catch (error) {
    if (!(error instanceof NotShownError)) throw error;
    index.unshown = error;
  }
}

function entriesOf({ byKey }: Index, key: string): Entry[] {
  const known = byKey.get(key);
  if (known) return known;
  const entries: Entry[] = [];
  byKey.set(key, entries);
  return entries;
}

function partnersIn({ join, byKey, ofAll, unshown }: Index, candidate: Items): unknown[] {
  const entries = join.match.keysFor(candidate).flatMap((key) => byKey.get(key) ?? []);
  const isFound = join.match.isSingle && entries.length > 0;
  if (unshown && !isFound) throw unshown;
  return [...new Set([...entries, ...ofAll])].sort((a, b) => a.at - b.at).map(({ item }) => item);
}
