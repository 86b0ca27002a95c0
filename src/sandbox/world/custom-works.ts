/** Custom work on a site (spec 2.18). */

import { isoDay } from '../../dates.ts';
import type { CustomWork, SiteWorks, WorkFields } from '../model/account.ts';
import type { Site } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { idOf } from './ids.ts';
import { randomFrom, seedOf } from './random.ts';
import { DAY } from './service-time.ts';

type OldWork = readonly [title: string, description: string];

/** The entries of a site. Those from before the sandbox started are generated at the first request. */
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
    addWork(made, site, { title, description, performedOn: isoDay(at) }, at);
  }
  return made;
}

const oldWorks: readonly [OldWork, ...OldWork[]] = [
  ['New opening hours', ''],
  ['Contact form repaired', 'Letters went to an address that no longer exists.'],
  ['Images made smaller', 'The front page loads in half the time.'],
  ['Cookie notice replaced', ''],
];

/** Adds an entry. */
export function addWork(on: SiteWorks, site: Site, fields: WorkFields, at: number): CustomWork {
  on.made += 1;
  const id = `${idOf('work', site.number)}-${String(on.made).padStart(3, '0')}`;
  const work: CustomWork = { id, ...fields, createdAt: at, updatedAt: at };
  on.works.set(id, work);
  return work;
}
