/** Finds the items that requests name. */

import type { Site } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { notFound } from '../refusal.ts';

/** @throws {Refusal} 404 when there is no such site. */
export function siteOf(world: World, id: string): Site {
  const site = world.sites.get(id);
  if (!site) throw notFound('site', id);
  return site;
}
