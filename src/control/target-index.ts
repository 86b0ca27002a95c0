/**
 * Finds targets by parts of their ids and labels, among 100,000 of them in a few milliseconds: the sites of the
 * accounts as they were last read, and what stored runs have worked on.
 *
 * Redis has no index for parts of texts, and one of all words would take more memory than the labels. So each process
 * that serves pages keeps them (some 15 MB for 100,000 labels, 80 MB with what is known of as many sites), and reads them
 * again when their number has changed or the sites of an account were read.
 */
import type { Clock } from '../clock.ts';
import type { Label } from '../records/label-store.ts';
import type { Records } from '../records/records.ts';
import type { SiteFacts, SiteReading } from '../records/site-store.ts';

/** A change is found within this time while a person searches. */
const REFRESH_MS = 5_000;
/** So few are read at once, so that a search has what was written just before. */
const FEW = 1_000;
/** Labels that changed while their number stayed are found within this time. */
const RELOAD_MS = 600_000;
/** How many matches are compared, to show the best of them. */
const MAX_COMPARED = 500;
/** How many names are suggested. */
const MAX_NAMES = 500;

/** The names of clients and tags that sites have. */
export interface SiteNames {
  clients: readonly string[];
  tags: readonly string[];
}

/** A target with what the service last showed of it, if it is a site of the account. */
export interface KnownTarget extends Label {
  site?: SiteFacts;
}

export interface TargetIndex {
  /** The best matches: those with every one of the words (in lower case) in their id or label. */
  find(words: readonly string[], limit: number): Promise<Label[]>;
  /**
   * All targets with every one of the words (in lower case) in their id, label or title, by label; all without words.
   * With the accounts of all targets, and the last reading of the sites of each account.
   */
  all(
    words: readonly string[],
  ): Promise<{ labels: readonly KnownTarget[] } & Pick<Loaded, 'accounts' | 'names' | 'readings'>>;
}

interface Loaded {
  /** By label. */
  labels: readonly KnownTarget[];
  /** Id, label and title of each, in lower case. */
  lines: readonly string[];
  accounts: readonly string[];
  names: SiteNames;
  readings: ReadonlyMap<string, SiteReading>;
  count: number;
  at: number;
}

type Stores = Pick<Records, 'labels' | 'sites'>;

/** One for each process, so that what is loaded is shared by all that ask. */
const opened = new WeakMap<Stores, TargetIndex>();

export function openTargetIndex(records: Stores, clock: Pick<Clock, 'now'>): TargetIndex {
  const known = opened.get(records) ?? newIndex(records, clock);
  opened.set(records, known);
  return known;
}

function newIndex({ labels: store, sites }: Stores, clock: Pick<Clock, 'now'>): TargetIndex {
  let loaded: Loaded | undefined;
  let loading: Promise<Loaded> | undefined;
  const load = async (count: number, readings: Loaded['readings']): Promise<Loaded> => {
    const labels = new Map<string, KnownTarget>();
    for await (const page of store.pages())
      for (const label of page) labels.set(`${label.account}\n${label.target}`, label);
    for (const account of readings.keys())
      for await (const page of sites.pages(account))
        for (const site of page)
          labels.set(`${account}\n${site.id}`, {
            account,
            target: site.id,
            label: site.url || site.title,
            site,
          });
    return { ...inOrder([...labels.values()]), readings, count, at: clock.now() };
  };
  const fresh = async (): Promise<Loaded> => {
    const [count, readings] = await Promise.all([store.count(), sites.readings()]);
    const age = loaded ? clock.now() - loaded.at : Infinity;
    const wasRead = [...readings].some(([name, { at }]) => loaded?.readings.get(name)?.at !== at);
    const isGone = readings.size !== loaded?.readings.size;
    const hasChanged = loaded?.count !== count;
    if (age > RELOAD_MS || wasRead || isGone || (hasChanged && (count <= FEW || age > REFRESH_MS))) {
      loading ??= load(count, readings)
        .then((next) => {
          loaded = next;
          return next;
        })
        .finally(() => {
          loading = undefined;
        });
    }
    // With many, only the first readers wait, and who waited for a reading: the others get what was loaded before.
    if (loading && (!loaded || wasRead || (hasChanged && count <= FEW))) return loading;
    return loaded ?? load(count, readings);
  };
  // The first reader does not wait for it. What fails now is tried again by the first search.
  fresh().catch(() => undefined);
  return {
    async find(words, limit) {
      const { labels, lines } = await fresh();
      const found: { label: Label; rank: number }[] = [];
      for (const [index, label] of labels.entries()) {
        const line = lines[index] ?? '';
        if (!holds(line, words)) continue;
        found.push({ label, rank: rankOf(line, words) });
        if (found.length === MAX_COMPARED) break;
      }
      const best = found.sort((a, b) => a.rank - b.rank).slice(0, limit);
      return words.length === 0 ? [] : best.map(({ label }) => label);
    },
    async all(words) {
      const { labels, lines, ...loaded } = await fresh();
      return {
        labels: words.length === 0 ? labels : labels.filter((_, index) => holds(lines[index] ?? '', words)),
        ...loaded,
      };
    },
  };
}

const holds = (line: string, words: readonly string[]): boolean => words.every((word) => line.includes(word));

function inOrder(given: readonly KnownTarget[]): Pick<Loaded, 'labels' | 'lines' | 'accounts' | 'names'> {
  const labels = [...given].sort(byLabel);
  const names = (of: (site: SiteFacts) => readonly { name: string }[]) => {
    const all = new Set(labels.flatMap(({ site }) => (site ? of(site).map(({ name }) => name) : [])));
    return [...all].sort().slice(0, MAX_NAMES);
  };
  return {
    labels,
    lines: labels.map(({ target, label, site }) => `${target} ${label} ${site?.title ?? ''}`.toLowerCase()),
    accounts: [...new Set(labels.map(({ account }) => account))],
    names: {
      clients: names(({ client }) => (client ? [client] : [])),
      tags: names(({ tags }) => tags ?? []),
    },
  };
}

/** The order of lists: by label, and always the same. */
export const byLabel = (a: Label, b: Label): number =>
  compare(a.label, b.label) || compare(a.account, b.account) || compare(a.target, b.target);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The id itself first, then lines in which all words begin a word, then the others. */
function rankOf(line: string, words: readonly string[]): number {
  const [word = ''] = words;
  if (words.length === 1 && line.startsWith(`${word} `)) return 0;
  const beginsWord = (one: string) => {
    const at = line.indexOf(one);
    return at === 0 || !/[\p{L}\p{N}]/u.test(line[at - 1] ?? '');
  };
  return words.every(beginsWord) ? 1 : 2;
}
