/** Custom work entries of a site (spec 4.16). */
import type { CustomWork as ShownWork } from '../../contract/operations/custom-works.ts';
import { isoDay } from '../../dates.ts';
import type { CustomWork, SiteWorks, WorkFields } from '../model/account.ts';
import type { Site } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { cannot } from '../refusal.ts';
import { idOf, randomFrom, seedOf } from '../world/numbers.ts';
import { DAY } from '../world/time.ts';
import { type Handler, itemIn, lists, shown, siteOf } from './handler.ts';

/** The view of a custom work entry (spec 2.18). */
export const customWorkView = (work: CustomWork): ShownWork => ({
  id: work.id,
  title: work.title,
  description: work.description,
  performed_on: work.performedOn,
  created_at: shown(work.createdAt),
  updated_at: shown(work.updatedAt),
});

/** Custom work on a site (spec 2.18). */
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

const worksOn = (world: World, siteId: string) => worksOf(world, siteOf(world, siteId));

const workOf = (world: World, params: { site_id: string; custom_work_id: string }): CustomWork =>
  itemIn(worksOn(world, params.site_id).works, 'custom work', params.custom_work_id);

export const listSiteCustomWorks = lists<'listSiteCustomWorks', CustomWork>({
  items: ({ world, params }) => worksOn(world, params.site_id).works.values(),
  fields: {
    search: (work) => [work.title, work.description],
    title: (work) => work.title,
    description: (work) => work.description,
    performed_on: (work) => work.performedOn,
    created_at: (work) => work.createdAt,
    updated_at: (work) => work.updatedAt,
  },
  view: customWorkView,
});

/** All or nothing: one invalid entry refuses the whole request. */
export const createSiteCustomWorks: Handler<'createSiteCustomWorks'> = (ask) => {
  const { world, now, params, body, changed } = ask;
  const site = siteOf(world, params.site_id);
  for (const { performed_on } of body.custom_works) requirePast(performed_on, now);
  const on = worksOf(world, site);
  const works = body.custom_works.map(({ title, description = '', performed_on }) => {
    const work = addWork(on, site, { title, description, performedOn: performed_on }, now);
    changed(work.id);
    return work;
  });
  return { custom_works: works.map(customWorkView) };
};

export const showSiteCustomWork: Handler<'showSiteCustomWork'> = ({ world, params }) => ({
  custom_work: customWorkView(workOf(world, params)),
});

export const updateSiteCustomWork: Handler<'updateSiteCustomWork'> = (ask) => {
  const { world, now, params, body, changed } = ask;
  const work = workOf(world, params);
  const { title, description, performed_on } = body.custom_work;
  if (performed_on !== undefined) requirePast(performed_on, now);
  const wanted = {
    title: title ?? work.title,
    description: description ?? work.description,
    performedOn: performed_on ?? work.performedOn,
  };
  const before = [work.title, work.description, work.performedOn].join('\n');
  if (before !== [wanted.title, wanted.description, wanted.performedOn].join('\n')) {
    Object.assign(work, wanted, { updatedAt: now });
    changed(work.id);
  }
  return { custom_work: customWorkView(work) };
};

export const deleteSiteCustomWork: Handler<'deleteSiteCustomWork'> = ({ world, params, changed }) => {
  const work = workOf(world, params);
  worksOn(world, params.site_id).works.delete(work.id);
  changed(work.id);
};

/** The day is in UTC (the spec names no timezone). */
function requirePast(day: string, now: number): void {
  if (day > isoDay(now)) throw cannot('performed_on_in_future', `${day} has not come yet.`);
}
