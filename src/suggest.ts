/** Suggestions for misspelt words. */

/** The number of letters to insert, delete, change or swap with their neighbour to turn `from` into `to`. */
export function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let row = 1; row <= from.length; row++) {
    const line = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      const cheapest = Math.min(
        (above[column] ?? 0) + 1,
        (line[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      line.push(swapped ? Math.min(cheapest, (before[column - 2] ?? 0) + 1) : cheapest);
    }
    before = above;
    above = line;
  }
  return above[to.length] ?? 0;
}

/** The candidates nearest to `word`: several when they are equally near, none when none is near enough. */
export function nearest(word: string, candidates: Iterable<string>): string[] {
  const typed = word.slice(0, 80).toLowerCase().replaceAll('-', '_');
  let best: string[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const meant = candidate.toLowerCase().replaceAll('-', '_');
    const distance = editDistance(typed, meant);
    const allowed = Math.max(1, Math.floor(Math.max(typed.length, meant.length) / 3));
    if (distance > Math.min(allowed, least)) continue;
    best = distance < least ? [candidate] : [...best, candidate];
    least = distance;
  }
  return best;
}

/** The candidate nearest to `word`, the first one of several; undefined when none is near enough. */
export const closest = (word: string, candidates: Iterable<string>): string | undefined =>
  nearest(word, candidates)[0];

/** The maximum number of names in a hint: a person reads a dozen, not 400 time zones. */
const MAX_LISTED = 24;

/**
 * A hint for a finding: `did you mean filters?`, or the available names; undefined when there are too many.
 */
export function suggestionFor(word: string, candidates: readonly string[]): string | undefined {
  const meant = closest(word, candidates);
  if (meant !== undefined) return `did you mean ${meant}?`;
  if (candidates.length === 0 || candidates.length > MAX_LISTED) return undefined;
  return `available: ${candidates.join(', ')}`;
}
