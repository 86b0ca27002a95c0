/**
 * Clients and the sites grouped under them (spec 2.2). Keeps `Site.clientId` and `Client.siteIds` consistent.
 */

import type { Client } from '../model/account.ts';
import type { Site } from '../model/site.ts';
import type { World } from '../model/world.ts';

/** Replaces the client's sites. */
export function giveSites(world: World, client: Client, sites: readonly Site[]): void {
  for (const id of client.siteIds) {
    const site = world.sites.get(id);
    if (site) site.clientId = null;
  }
  client.siteIds.clear();
  for (const site of sites) {
    site.clientId = client.id;
    client.siteIds.add(site.id);
  }
}

/** Removes the client. Its sites stay, without a client. */
export function removeClient(world: World, client: Client): void {
  giveSites(world, client, []);
  world.clients.delete(client.id);
}
