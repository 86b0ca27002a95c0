/** The view of a client (spec 2.2). */
import type { Client as ShownClient } from '../../contract/resources/client.ts';
import type { Client } from '../model/clients.ts';
import { shown } from './timestamp.ts';

export const clientView = (client: Client): ShownClient => ({
  id: client.id,
  ...client.fields,
  site_ids: [...client.siteIds],
  created_at: shown(client.createdAt),
  updated_at: shown(client.updatedAt),
});
