/** Finds the items that requests name. */
import { notFound } from '../refusal.ts';
import type { Site } from '../world/site.ts';
import type { World } from '../world/world.ts';

/** @throws {Refusal} 404 when there is no such site. */
export function siteOf(world: World, id: string): Site {
  const site = world.sites.get(id);
  if (!site) throw notFound('site', id);
  return site;
}
