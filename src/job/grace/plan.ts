/** What a plan shows about announcements, from our records: it does not read the notes. */
import type { Preparing } from '../job.ts';
import { formatUtc } from './announcement.ts';
import {
  announcementKey,
  COUNTS_FOR_MS,
  type GracedChange,
  type Memory,
  OpenAnnouncement,
  parseMemory,
} from './grace.ts';

/** What the policy's last whole run knew of announcements. */
export interface Announcements {
  /** By the ids of their targets. */
  known: ReadonlyMap<string, { from: number; isRemoved: boolean; cancelled?: Memory['cancelled'] }>;
  /** The open announcements of the policy's step, each with when it was remembered and who cancelled it, if so. */
  open: readonly (OpenAnnouncement & Pick<Memory, 'cancelled'> & { at?: number })[];
  /** What identifies the announcement of a target now; undefined when the policy announces nothing. */
  idFor(target: string): Pick<GracedChange, 'marker' | 'about'> | undefined;
  /** When that run began, if it did not have this target: then the target did not qualify at that time. */
  missedAt(target: string): number | undefined;
}

type Reading = Pick<Preparing<unknown>, 'earlier' | 'once' | 'previousAt' | 'announcements' | 'step'>;

/**
 * Reads what our records know of the announcements of the policy. Costs no request. `idFor` identifies the
 * announcement of a target. With no grace period, each open announcement is outdated.
 */
export async function announcementsFor(
  graceMs: number | undefined,
  preparing: Reading,
  idFor: Announcements['idFor'],
): Promise<Announcements> {
  if (graceMs !== undefined && graceMs > 0) return knownAnnouncements(preparing, idFor);
  const known = new Map();
  return {
    known,
    open: await openAnnouncements(preparing),
    idFor: () => undefined,
    missedAt: () => undefined,
  };
}

/** Reads what our records know of the announcements of the policy's last whole run, and which are open. */
async function knownAnnouncements(preparing: Reading, idFor: Announcements['idFor']): Promise<Announcements> {
  const { earlier, once, previousAt } = preparing;
  const targets: { id: string; isRemoved: boolean }[] = [];
  const all = new Set<string>();
  for await (const { at, id, reason } of earlier()) {
    // A run without any target does not appear here.
    if (at !== previousAt) break;
    all.add(id);
    const isRemoved = reason === 'announcement-removed';
    if (isRemoved || reason === 'announced') targets.push({ id, isRemoved });
  }
  const keyed = targets.flatMap((one) => {
    const of = idFor(one.id);
    return of ? [{ ...one, key: announcementKey(of) }] : [];
  });
  const results = await once.results(keyed.map(({ key }) => key));
  const known = new Map(
    keyed.flatMap(({ id, isRemoved }, i) => {
      const memory = parseMemory(results[i]);
      const { from, cancelled } = memory ?? {};
      return from === undefined ? [] : [[id, { from, isRemoved, cancelled }] as const];
    }),
  );
  return {
    known,
    open: await openAnnouncements(preparing),
    idFor,
    missedAt: (target) => (all.has(target) ? undefined : previousAt),
  };
}

async function openAnnouncements({
  once,
  announcements,
  step,
}: Pick<Preparing<unknown>, 'once' | 'announcements' | 'step'>): Promise<Announcements['open']> {
  const kept = [...(await announcements.all()).values()].map((facts) =>
    OpenAnnouncement.parse(JSON.parse(facts)),
  );
  const open = kept.filter((one) => one.step === step);
  const results = await once.results(open.map(announcementKey));
  return open.map((one, i) => {
    const { at, cancelled } = parseMemory(results[i]) ?? {};
    return { ...one, ...(at === undefined ? {} : { at }), ...(cancelled ? { cancelled } : {}) };
  });
}

/** What would be done about a target. The note decides: it may have been removed or changed since. */
export function planOf(
  known: ReturnType<Announcements['known']['get']>,
  graceMs: number,
  now: number,
): string {
  if (!known || now > known.from + COUNTS_FOR_MS)
    return `Would be announced, and done on or after ${formatUtc(now + graceMs)}`;
  if (known.cancelled) return `Nothing: ${known.cancelled.by} has cancelled it`;
  if (known.isRemoved) return `Nothing: its announcement for ${formatUtc(known.from)} was removed`;
  if (now < known.from) return `Nothing yet: it is announced for ${formatUtc(known.from)}`;
  return `Would be done, if the announcement for ${formatUtc(known.from)} is still there`;
}
