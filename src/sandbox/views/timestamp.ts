/** A time in the format of the service (spec 1.2), or null if there is none. */
export const shown = (at: number): string => new Date(at).toISOString();
export const shownOrNull = (at: number | null): string | null => (at === null ? null : shown(at));
