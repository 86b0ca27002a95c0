import type { Client as ShownClient } from '../../contract/operations/clients.ts';
import type { Client, ClientFields } from '../model/account.ts';
import type { Site } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { cannot } from '../refusal.ts';
import { idOf, nextNumber } from '../world/numbers.ts';
import { forEachOf, type Handler, itemIn, lists, requireEmail, shown } from './handler.ts';

/** The view of a client (spec 2.2). */
export const clientView = (client: Client): ShownClient => ({
  id: client.id,
  ...client.fields,
  site_ids: [...client.siteIds],
  created_at: shown(client.createdAt),
  updated_at: shown(client.updatedAt),
});

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

const clientOf = (world: World, id: string): Client => itemIn(world.clients, 'client', id);

export const listClients = lists<'listClients', Client>({
  items: ({ world }) => world.clients.values(),
  fields: {
    search: ({ fields }) => [fields.first_name, fields.last_name, fields.email, fields.company_name],
    first_name: ({ fields }) => fields.first_name,
    last_name: ({ fields }) => fields.last_name,
    email: ({ fields }) => fields.email,
    company_name: ({ fields }) => fields.company_name,
    created_at: (client) => client.createdAt,
    updated_at: (client) => client.updatedAt,
  },
  view: clientView,
});

export const showClient: Handler<'showClient'> = ({ world, params }) => ({
  client: clientView(clientOf(world, params.client_id)),
});

export const createClient: Handler<'createClient'> = ({ world, now, body, changed }) => {
  const { site_ids = [], ...given } = body.client;
  const fields = requireFields(blank, given);
  const sites = requireSites(world, site_ids);
  const id = idOf('client', nextNumber(world, 'client'));
  const client: Client = { id, fields, siteIds: new Set(), createdAt: now, updatedAt: now };
  world.clients.set(id, client);
  giveSites(world, client, sites);
  changed(id);
  return { client: clientView(client) };
};

/** `site_ids` replaces the client's sites; without it they stay. */
export const updateClient: Handler<'updateClient'> = ({ world, now, params, body, changed }) => {
  const client = clientOf(world, params.client_id);
  const { site_ids = [...client.siteIds], ...given } = body?.client ?? {};
  const fields = requireFields(client.fields, given);
  const sites = requireSites(world, site_ids, client);
  const before = JSON.stringify([client.fields, [...client.siteIds].sort()]);
  client.fields = fields;
  giveSites(world, client, sites);
  if (before !== JSON.stringify([client.fields, [...client.siteIds].sort()])) {
    client.updatedAt = now;
    changed(client.id);
  }
  return { client: clientView(client) };
};

export const deleteClients: Handler<'deleteClients'> = ({ world, body, changed }) => {
  const { meta, ...done } = forEachOf(world.clients, 'client', body.ids, (client) => {
    removeClient(world, client);
    changed(client.id);
    return undefined;
  });
  return { delete: done, meta };
};

type Given = { [F in keyof ClientFields]?: string | undefined };

const blank: ClientFields = {
  first_name: '',
  last_name: '',
  email: '',
  company_name: '',
  address: '',
  note: '',
};

/** Merges the request into the fields, and checks the result. */
function requireFields(before: ClientFields, given: Given): ClientFields {
  const sent = Object.entries(given).filter(([, value]) => value !== undefined);
  const fields: ClientFields = { ...before, ...Object.fromEntries(sent) };
  const { first_name, last_name, company_name, email } = fields;
  if (`${first_name}${last_name}${company_name}`.trim() === '') {
    throw cannot('client_name_missing', 'A client needs a first name, a last name or a company name.');
  }
  if (email !== '') requireEmail(email);
  return fields;
}

/** All or nothing: one unknown site, or site of another client, refuses the whole request. */
function requireSites(world: World, ids: readonly string[], own?: Client): Site[] {
  return [...new Set(ids)].map((id) => {
    const site = world.sites.get(id);
    if (!site) throw cannot('site_not_found', `There is no site "${id}".`);
    if (site.clientId !== null && site.clientId !== own?.id) {
      throw cannot('site_of_other_client', `The site "${id}" is assigned to another client.`);
    }
    return site;
  });
}
