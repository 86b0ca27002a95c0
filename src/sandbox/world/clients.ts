/** Clients and the sites grouped under them (spec 2.2). `Site.clientId` and `Client.siteIds` are kept together here. */
import type { Site } from './site.ts';
import type { World } from './world.ts';

export interface ClientFields {
  first_name: string;
  last_name: string;
  email: string;
  company_name: string;
  address: string;
  note: string;
}

export interface Client {
  readonly id: string;
  fields: ClientFields;
  readonly siteIds: Set<string>;
  readonly createdAt: number;
  updatedAt: number;
}

/** Makes these sites, and no others, the client's. */
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

/** Removes the client; its sites stay and belong to nobody. */
export function removeClient(world: World, client: Client): void {
  giveSites(world, client, []);
  world.clients.delete(client.id);
}
