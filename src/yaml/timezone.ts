import { suggestionFor } from '../suggest.ts';

/** Those that were found to exist: to ask takes a while, and many policies live in the same zone. */
const known = new Set<string>();

/** What may be meant by the name of a zone that there is not: also one that names the city alone. */
export function zoneHint(text: string): string | undefined {
  const all = Intl.supportedValuesOf('timeZone');
  const city = text.trim().toLowerCase().replaceAll(' ', '_');
  const meant = all.find((zone) => zone.toLowerCase().endsWith(`/${city}`));
  return meant === undefined ? suggestionFor(text, all) : `did you mean ${meant}?`;
}

/** A few words about what is wrong with the name of a time zone; nothing when it exists. */
export function timezoneFault(timezone: string): string | undefined {
  if (known.has(timezone)) return undefined;
  try {
    // Offsets such as +02:00 are taken by newer runtimes alone, and forget about daylight saving time.
    if (!/^[A-Za-z]/.test(timezone)) throw new RangeError('not a name');
    new Intl.DateTimeFormat('en', { timeZone: timezone });
    known.add(timezone);
    return undefined;
  } catch {
    return 'takes the name of a time zone such as Europe/Berlin';
  }
}
