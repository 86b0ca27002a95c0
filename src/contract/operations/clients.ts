/** Clients and the sites grouped under them (spec 4.2). */
import { z } from 'zod';
import { field, listTimestamp, text } from '../list.ts';
import { operationsOf } from '../operation.ts';
import { idOf, idSchema, part, timestamp } from '../schema.ts';
import { BatchDeletion, batchIds, PageMeta } from './shared.ts';

// Clients: the agency's customers, with their sites (spec 2.2).

export const Client = part(
  {
    id: idSchema,
    first_name: z.string(),
    last_name: z.string(),
    email: z.string(),
    company_name: z.string(),
    address: z.string(),
    note: z.string(),
    site_ids: z.array(idSchema),
    created_at: timestamp,
    updated_at: timestamp,
  },
  'id',
);
export type Client = z.output<typeof Client>;

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

const operation = operationsOf('4.2');

export const clientOperations = {
  listClients: operation({
    summary: 'Lists clients.',
    method: 'GET',
    path: '/clients',
    answer: part({ clients: z.array(Client), meta: PageMeta }, 'clients'),
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
    summary: 'Creates a client.',
    method: 'POST',
    path: '/clients',
    body: clientBody,
    bodyRequired: true,
    success: 201,
    answer: client,
    errors: [422],
    effect: 'once',
  }),
  deleteClients: operation({
    summary: 'Deletes clients; unknown ones are reported one by one.',
    destructive: 'The clients and what is stored about them are lost.',
    method: 'POST',
    path: '/clients/delete',
    body: batchIds('client'),
    bodyRequired: true,
    answer: BatchDeletion,
    effect: 'repeatable',
  }),
  showClient: operation({
    summary: 'Shows a client.',
    method: 'GET',
    path: '/clients/{client_id}',
    answer: client,
  }),
  // Not specified: whether `site_ids` adds to or replaces the assignment.
  updateClient: operation({
    summary: 'Changes a client; omitted fields stay.',
    method: 'POST',
    path: '/clients/{client_id}/update',
    body: clientBody,
    answer: client,
    errors: [422],
    effect: 'repeatable',
  }),
} as const;
