/** What is special about a site, and how many of each kind a fleet has. */
import type { Random } from '../world/random.ts';

/**
 * Sites of each kind among 60; smaller and larger fleets have as many in proportion, rounded down, so a fleet
 * of less than 10 has plain sites alone. The first six keep a site from being synced or make its sync fail
 * (14 of 60).
 */
const amongSixty = {
  disconnected: 3,
  paused: 2,
  locked: 2,
  daily_limit: 2,
  maintenance: 3,
  sync_fails: 2,
  hacked: 2,
  vulnerable_core: 3,
  outdated_php: 6,
  no_backups: 2,
  plan_without_backups: 1,
  multisite: 3,
  never_synced: 2,
  lagging: 10,
} as const;

export type Kind = keyof typeof amongSixty;

/** Deals the kinds to sites by number, one at most each; the sites left out are plain. */
export function dealKinds(sites: number, random: Random): Map<number, Kind> {
  const deck = Object.entries(amongSixty).flatMap(([kind, count]) =>
    Array.from({ length: Math.floor((count * sites) / 60) }, () => kind as Kind),
  );
  const numbers = random.shuffle(Array.from({ length: sites }, (_, at) => at + 1));
  return new Map(deck.map((kind, at) => [numbers[at] ?? 0, kind]));
}
