/**
 * Compares a version with that of a filter, part by part and only to the precision of the filter (our
 * choice): 8.1.27 equals 8 and 8.1, and is neither greater nor less. Negative: lower than the filter's.
 */
export function compareVersion(version: string, asked: string): number {
  const parts = version.split('.');
  for (const [at, part] of asked.split('.').entries()) {
    const difference = Number(parts[at] ?? 0) - Number(part);
    if (difference !== 0) return difference;
  }
  return 0;
}
