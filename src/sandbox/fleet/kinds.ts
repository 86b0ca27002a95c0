/** The special kinds of sites, and how many of each kind a fleet has. */
import type { Random } from '../world/random.ts';

/**
 * The number of sites of each kind in a fleet of 60. Other fleets have proportionally many, rounded down, so
 * a fleet of fewer than 10 sites has plain sites only. The first six kinds prevent a sync or make it fail (14
 * of 60).
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

/** Assigns the kinds to sites by number, at most one per site; the other sites are plain. */
export function assignKinds(sites: number, random: Random): Map<number, Kind> {
  const kinds = Object.entries(amongSixty).flatMap(([kind, count]) =>
    Array.from({ length: Math.floor((count * sites) / 60) }, () => kind as Kind),
  );
  const numbers = random.shuffle(Array.from({ length: sites }, (_, at) => at + 1));
  return new Map(kinds.map((kind, at) => [numbers[at] ?? 0, kind]));
}
