/** Writes values in other formats than the sandbox usually does. */
import type { Random } from '../world/random.ts';

const timestamp = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z$/;

/** Writes each timestamp in a random format; one without milliseconds is up to a second too early. */
export function reformatTimestamps(value: unknown, random: Random): unknown {
  return mapValues(value, (one) => {
    const [, seconds, fraction = ''] = (typeof one === 'string' && timestamp.exec(one)) || [];
    if (seconds === undefined) return one;
    return seconds + random.pick([fraction, '']) + random.pick(['Z', '+00:00']);
  });
}

/** Numbers as text: all of the pagination, and about half of the others. */
export function numbersAsText(value: unknown, random: Random): unknown {
  return mapValues(value, (one, path) =>
    typeof one === 'number' && (path.includes('pagination') || random.next() < 0.5) ? String(one) : one,
  );
}

/** The same structure with every value replaced that is not an object or list. */
function mapValues(
  value: unknown,
  change: (value: unknown, path: readonly string[]) => unknown,
  path: readonly string[] = [],
): unknown {
  if (Array.isArray(value)) return value.map((item) => mapValues(item, change, path));
  if (typeof value !== 'object' || value === null) return change(value, path);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, mapValues(inner, change, [...path, key])]),
  );
}
