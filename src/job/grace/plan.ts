/** What a plan shows about announcements, from our records: it does not read the notes. */
import type { Preparing } from '../job.ts';
import { formatUtc } from './announcement.ts';
import { announcementKey, COUNTS_FOR_MS, type GracedChange, parseMemory } from './grace.ts';

/** What the policy's last whole run knew of announcements. */
export interface Announcements {
  /** By the ids of their targets. */
  known: ReadonlyMap<string, { from: number; isRemoved: boolean }>;
  /** When that run began, if it did not have this target: then the target did not qualify at that time. */
  missedAt(target: string): number | undefined;
}

/**
 * Reads what our records know of the announcements of the policy's last whole run. Costs no request.
 * `idFor` identifies the announcement of a target.
 */
export async function knownAnnouncements(
  { earlier, once, previousAt }: Pick<Preparing<unknown>, 'earlier' | 'once' | 'previousAt'>,
  idFor: (target: string) => Pick<GracedChange, 'marker' | 'about'>,
): Promise<Announcements> {
  const targets: { id: string; isRemoved: boolean }[] = [];
  const all = new Set<string>();
  for await (const { at, id, reason } of earlier()) {
    // A run without any target does not appear here.
    if (at !== previousAt) break;
    all.add(id);
    const isRemoved = reason === 'announcement-removed';
    if (isRemoved || reason === 'announced') targets.push({ id, isRemoved });
  }
  const results = await once.results(targets.map(({ id }) => announcementKey(idFor(id))));
  const known = new Map(
    targets.flatMap(({ id, isRemoved }, i) => {
      const memory = parseMemory(results[i]);
      return memory ? [[id, { from: memory.from, isRemoved }] as const] : [];
    }),
  );
  return { known, missedAt: (target) => (all.has(target) ? undefined : previousAt) };
}

/** What would be done about a target. The note decides: it may have been removed or changed since. */
export function planOf(
  known: ReturnType<Announcements['known']['get']>,
  graceMs: number,
  now: number,
): string {
  if (!known || now > known.from + COUNTS_FOR_MS)
    return `Would be announced, and done on or after ${formatUtc(now + graceMs)}`;
  if (known.isRemoved) return `Nothing: its announcement for ${formatUtc(known.from)} was removed`;
  if (now < known.from) return `Nothing yet: it is announced for ${formatUtc(known.from)}`;
  return `Would be done, if the announcement for ${formatUtc(known.from)} is still there`;
}
