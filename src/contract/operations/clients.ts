/** Clients and the sites grouped under them (spec 4.2). */
import { z } from 'zod';
import { field, listTimestamp, text } from '../list.ts';
import { operation } from '../operation.ts';
import { Client } from '../resources/client.ts';
import { BatchDeletion, batchIds, PageMeta } from '../resources/shared.ts';
import { idOf, part } from '../schema.ts';

const client = part({ client: Client }, 'client');
// Not specified: required fields, and rules for length and format.
const clientBody = z.strictObject({
  client: z.strictObject({
    first_name: z.optional(z.string()),
    last_name: z.optional(z.string()),
    email: z.optional(z.string()),
    company_name: z.optional(z.string()),
    address: z.optional(z.string()),
    note: z.optional(z.string()),
    site_ids: z.optional(z.array(idOf('site'))),
  }),
});

export const clientOperations = {
  listClients: operation({
    section: '4.2',
    summary: 'Lists clients.',
    method: 'GET',
    path: '/clients',
    success: 200,
    answer: part({ clients: z.array(Client), meta: PageMeta }, 'clients'),
    errors: [400, 401, 403, 429],
    list: {
      key: 'clients',
      filters: {
        search: text('contains'),
        first_name: text('contains'),
        last_name: text('contains'),
        email: text('contains'),
        company_name: text('contains'),
        created_at: field('created_at', listTimestamp('gte', 'lte')),
        updated_at: field('updated_at', listTimestamp('gte', 'lte')),
      },
      sorts: ['created_at', 'updated_at', 'first_name', 'last_name', 'email', 'company_name'],
      defaultSort: 'created_at,desc',
      timezone: true,
      paged: true,
    },
  }),
  createClient: operation({
    section: '4.2',
    summary: 'Creates a client.',
    method: 'POST',
    path: '/clients',
    body: clientBody,
    bodyRequired: true,
    success: 201,
    answer: client,
    errors: [400, 401, 403, 422, 429],
    effect: 'once',
  }),
  deleteClients: operation({
    section: '4.2',
    summary: 'Deletes clients; unknown ones are reported one by one.',
    destructive: 'The clients and what is stored about them are lost.',
    method: 'POST',
    path: '/clients/delete',
    body: batchIds('client'),
    bodyRequired: true,
    success: 200,
    answer: BatchDeletion,
    errors: [400, 401, 403, 429],
    effect: 'repeatable',
  }),
  showClient: operation({
    section: '4.2',
    summary: 'Shows a client.',
    method: 'GET',
    path: '/clients/{client_id}',
    success: 200,
    answer: client,
    errors: [401, 403, 404, 429],
  }),
  // Not specified: whether `site_ids` adds to or replaces the assignment.
  updateClient: operation({
    section: '4.2',
    summary: 'Changes a client; omitted fields stay.',
    method: 'POST',
    path: '/clients/{client_id}/update',
    body: clientBody,
    success: 200,
    answer: client,
    errors: [400, 401, 403, 404, 422, 429],
    effect: 'repeatable',
  }),
} as const;
