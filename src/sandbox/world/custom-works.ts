/** Work that people have done on a site (spec 2.18). */
import { randomFrom, seedOf } from './random.ts';
import { DAY, utcDay } from './service-time.ts';
import type { Site } from './site.ts';
import { idOf, type World } from './world.ts';

export interface CustomWork {
  readonly id: string;
  title: string;
  description: string;
  /** A day: `2026-11-21`. */
  performedOn: string;
  readonly createdAt: number;
  updatedAt: number;
}

/** The entries of one site; `made` counts all that it ever had. */
export interface SiteWorks {
  made: number;
  readonly works: Map<string, CustomWork>;
}

export type WorkFields = Pick<CustomWork, 'title' | 'description' | 'performedOn'>;

/** The entries of a site. Those from before the sandbox started are made when they are first asked for. */
export function worksOf(world: World, site: Site): SiteWorks {
  const known = world.customWorks.get(site.id);
  if (known) return known;
  const made: SiteWorks = { made: 0, works: new Map() };
  world.customWorks.set(site.id, made);
  if (site.createdAt >= world.startedAt) return made;
  const random = randomFrom(seedOf(world.seed, `works ${site.number}`));
  for (let count = random.between(0, 3); count > 0; count -= 1) {
    const at = world.startedAt - count * 9 * DAY - random.between(0, 5) * DAY;
    const [title, description] = random.pick(oldWorks);
    addWork(made, site, { title, description, performedOn: utcDay(at) }, at);
  }
  return made;
}

type OldWork = readonly [title: string, description: string];

const oldWorks: readonly [OldWork, ...OldWork[]] = [
  ['New opening hours', ''],
  ['Contact form repaired', 'Letters went to an address that no longer exists.'],
  ['Images made smaller', 'The front page loads in half the time.'],
  ['Cookie notice replaced', ''],
];

/** Writes an entry down. */
export function addWork(on: SiteWorks, site: Site, fields: WorkFields, at: number): CustomWork {
  on.made += 1;
  const id = `${idOf('work', site.number)}-${String(on.made).padStart(3, '0')}`;
  const work: CustomWork = { id, ...fields, createdAt: at, updatedAt: at };
  on.works.set(id, work);
  return work;
}
