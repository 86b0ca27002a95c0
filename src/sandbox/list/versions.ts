/**
 * Compares a version with what a filter asks, part by part and only as far as asked (our choice):
 * 8.1.27 equals 8 and 8.1, and is neither greater nor less than they are. Negative: less than asked.
 */
export function compareVersion(version: string, asked: string): number {
  const parts = version.split('.');
  for (const [at, part] of asked.split('.').entries()) {
    const difference = Number(parts[at] ?? 0) - Number(part);
    if (difference !== 0) return difference;
  }
  return 0;
}
