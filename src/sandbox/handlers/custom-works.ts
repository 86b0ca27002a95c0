/** Custom work entries of a site (spec 4.16). */

import { isoDay } from '../../dates.ts';
import type { CustomWork } from '../model/account.ts';
import type { World } from '../model/world.ts';
import { cannot, notFound } from '../refusal.ts';
import { customWorkView } from '../views/account.ts';
import { addWork, worksOf } from '../world/account.ts';
import { type Handler, lists } from './handler.ts';
import { siteOf } from './lookup.ts';

const worksOn = (world: World, siteId: string) => worksOf(world, siteOf(world, siteId));

function workOf(world: World, params: { site_id: string; custom_work_id: string }): CustomWork {
  const work = worksOn(world, params.site_id).works.get(params.custom_work_id);
  if (!work) throw notFound('custom work', params.custom_work_id);
  return work;
}

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
