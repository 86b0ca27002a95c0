/** How an open page is kept up to date: the server sends what changed in its text, the browser puts it together. */

/** A text in parts: each begins with a tag. */
export type Parts = readonly string[];
/** The next text: new parts, and how many parts of the previous text follow from which one on. */
export type Delta = readonly (string | readonly [from: number, count: number])[];

/** Splits before each tag. Several parts, joined, are split in the same places again. */
export const partsOf = (text: string): string[] => (text === '' ? [] : text.split(/(?=<)/));

/** The text after a delta. */
export const applyDelta = (parts: Parts, delta: Delta): string[] =>
  delta.flatMap((one) => (typeof one === 'string' ? partsOf(one) : parts.slice(one[0], one[0] + one[1])));

/** What has to be sent to a person who has the first text. Takes time proportional to the length of both. */
export function deltaOf(from: Parts, to: Parts): Delta {
  const places = new Map<string, number>();
  for (let at = from.length - 1; at >= 0; at -= 1) places.set(from[at] ?? '', at);
  const delta: (string | [number, number])[] = [];
  let next = 0;
  for (const part of to) {
    // What follows the previous part is preferred to an equal part elsewhere, so that copies are long.
    const at = from[next] === part ? next : places.get(part);
    const last = delta.at(-1);
    if (at === undefined) {
      if (typeof last === 'string') delta[delta.length - 1] = last + part;
      else delta.push(part);
      // Usually one part took the place of another.
      next += 1;
      continue;
    }
    if (typeof last === 'object' && last[0] + last[1] === at) last[1] += 1;
    else delta.push([at, 1]);
    next = at + 1;
  }
  return delta;
}
