/** A few words about what is wrong with the name of a time zone; nothing when it exists. */
export function timezoneFault(timezone: string): string | undefined {
  try {
    // Offsets such as +02:00 are taken by newer runtimes alone, and forget about daylight saving time.
    if (!/^[A-Za-z]/.test(timezone)) throw new RangeError('not a name');
    new Intl.DateTimeFormat('en', { timeZone: timezone });
    return undefined;
  } catch {
    return 'takes the name of a time zone such as Europe/Berlin';
  }
}
