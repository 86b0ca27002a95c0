/**
 * Finds targets by parts of their ids and labels, among 100,000 of them in a few milliseconds.
 *
 * Redis has no index for parts of texts, and one of all words would take more memory than the labels. So each process
 * that serves pages keeps the labels (some 15 MB for 100,000), and reads them again when their number has changed.
 */
import type { Clock } from '../../clock.ts';
import type { Label, LabelStore } from '../../records/label-store.ts';

/** A change is found within this time while a person searches. */
const REFRESH_MS = 5_000;
/** So few are read at once, so that a search has what was written just before. */
const FEW = 1_000;
/** Labels that changed while their number stayed are found within this time. */
const RELOAD_MS = 600_000;
/** How many matches are compared, to show the best of them. */
const MAX_COMPARED = 500;

export interface TargetIndex {
  /** The best matches: those with every one of the words (in lower case) in their id or label. */
  find(words: readonly string[], limit: number): Promise<Label[]>;
  /**
   * All targets with every one of the words (in lower case) in their id or label, by label; all without words. With
   * the accounts of all targets.
   */
  all(words: readonly string[]): Promise<{ labels: readonly Label[]; accounts: readonly string[] }>;
}

interface Loaded {
  /** By label. */
  labels: readonly Label[];
  lines: readonly string[];
  /** Id and label of each in lower case, a line each. */
  text: string;
  /** Where each line begins. */
  starts: Uint32Array;
  accounts: readonly string[];
  count: number;
  at: number;
}

export function openTargetIndex(store: Pick<LabelStore, 'count' | 'pages'>, clock: Clock): TargetIndex {
  let loaded: Loaded | undefined;
  let loading: Promise<Loaded> | undefined;
  const load = async (count: number): Promise<Loaded> => {
    const labels = new Map<string, Label>();
    for await (const page of store.pages())
      for (const label of page) labels.set(`${label.account}\n${label.target}`, label);
    return { ...asText([...labels.values()]), count, at: clock.now() };
  };
  const fresh = async (): Promise<Loaded> => {
    const count = await store.count();
    const age = loaded ? clock.now() - loaded.at : Infinity;
    const hasChanged = loaded?.count !== count;
    if (age > RELOAD_MS || (hasChanged && (count <= FEW || age > REFRESH_MS))) {
      loading ??= load(count)
        .then((next) => {
          loaded = next;
          return next;
        })
        .finally(() => {
          loading = undefined;
        });
    }
    // With many, only the first readers wait: the others get what was loaded before.
    if (loading && (!loaded || (hasChanged && count <= FEW))) return loading;
    return loaded ?? load(count);
  };
  // The first reader does not wait for it. What fails now is tried again by the first search.
  fresh().catch(() => undefined);
  return {
    find: async (words, limit) => matchesIn(await fresh(), words, limit),
    async all(words) {
      const { labels, lines, accounts } = await fresh();
      if (words.length === 0) return { labels, accounts };
      return {
        labels: labels.filter((_, index) => words.every((word) => lines[index]?.includes(word))),
        accounts,
      };
    },
  };
}

function asText(given: readonly Label[]): Pick<Loaded, 'labels' | 'lines' | 'text' | 'starts' | 'accounts'> {
  const labels = [...given].sort((a, b) => (a.label < b.label ? -1 : a.label > b.label ? 1 : 0));
  const starts = new Uint32Array(labels.length);
  const lines: string[] = [];
  let at = 0;
  for (const [index, { target, label }] of labels.entries()) {
    const line = `${target} ${label}`.toLowerCase().replaceAll('\n', ' ');
    starts[index] = at;
    at += line.length + 1;
    lines.push(line);
  }
  const accounts = [...new Set(labels.map(({ account }) => account))];
  return { labels, lines, starts, accounts, text: `${lines.join('\n')}\n` };
}

function matchesIn({ labels, text, starts }: Loaded, words: readonly string[], limit: number): Label[] {
  // The longest word is in the fewest lines.
  const [longest, ...others] = [...words].sort((a, b) => b.length - a.length);
  if (!longest) return [];
  const found: { label: Label; rank: number }[] = [];
  for (let at = text.indexOf(longest); at !== -1 && found.length < MAX_COMPARED; ) {
    const end = text.indexOf('\n', at);
    const index = lineAt(starts, at);
    const line = text.slice(starts[index], end);
    const label = labels[index];
    if (label && others.every((word) => line.includes(word)))
      found.push({ label, rank: rankOf(line, words) });
    at = text.indexOf(longest, end + 1);
  }
  return found
    .sort((a, b) => a.rank - b.rank || (a.label.label < b.label.label ? -1 : 1))
    .slice(0, limit)
    .map(({ label }) => label);
}

/** The number of the line that a position belongs to. */
function lineAt(starts: Uint32Array, position: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

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
