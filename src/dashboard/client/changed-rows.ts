/** Marks rows of a table that a live update changed in place, for a moment. */

/** What changes all the time: times, progress. A change of it alone is not marked. */
const MOVING = 'time, .ago, .lasts, [data-moving]';
const LASTS_MS = 1_600;

const rowsIn = (root: Element): Map<string, HTMLElement> =>
  new Map(
    [...root.querySelectorAll<HTMLElement>('tr[data-key]')].map((row) => [row.dataset['key'] ?? '', row]),
  );

function wordsOf(row: Element): string {
  const copy = row.cloneNode(true) as Element;
  for (const one of copy.querySelectorAll(MOVING)) one.remove();
  return copy.textContent;
}

/** The rows of `old` that say something else in `fresh`. */
export function changedRows(old: Element, fresh: Element): HTMLElement[] {
  const shown = rowsIn(old);
  return [...rowsIn(fresh)].flatMap(([key, row]) => {
    const before = shown.get(key);
    return before && wordsOf(before) !== wordsOf(row) ? [before] : [];
  });
}

/** Colours a row, which fades. Nothing for those who asked for less motion. */
export function markChanged(row: HTMLElement): void {
  if (matchMedia('(prefers-reduced-motion: reduce)').matches || row.getAnimations().length > 0) return;
  const colour = { backgroundColor: 'var(--selected)' };
  row.animate([{ ...colour, offset: 0 }, { ...colour, offset: 0.4 }, {}], LASTS_MS);
}
