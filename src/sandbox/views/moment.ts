/** A moment as the service shows it (spec 1.2), or null where it has not come. */
export const shown = (at: number): string => new Date(at).toISOString();
export const shownOrNull = (at: number | null): string | null => (at === null ? null : shown(at));
