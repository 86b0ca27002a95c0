/** What somebody who misspelt a word probably meant. */

/**
 * How many letters must be typed, dropped, changed or swapped with their neighbour to make `to` out of
 * `from`.
 */
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

/** The candidate nearest to `word`, or nothing when none is near enough to have been meant. */
export function closest(word: string, candidates: Iterable<string>): string | undefined {
  const typed = word.slice(0, 80).toLowerCase().replaceAll('-', '_');
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const meant = candidate.toLowerCase().replaceAll('-', '_');
    const distance = editDistance(typed, meant);
    const allowed = Math.max(1, Math.floor(Math.max(typed.length, meant.length) / 3));
    if (distance <= allowed && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) {
      best = { candidate, distance };
    }
  }
  return best?.candidate;
}

/** At most so many names are listed: a reader looks through a dozen, not through 400 time zones. */
const listed = 24;

/**
 * A hint for a finding: `did you mean filters?`, else the names there are; nothing when these are too many.
 */
export function suggestionFor(word: string, candidates: readonly string[]): string | undefined {
  const meant = closest(word, candidates);
  if (meant !== undefined) return `did you mean ${meant}?`;
  if (candidates.length === 0 || candidates.length > listed) return undefined;
  return `available: ${candidates.join(', ')}`;
}
