/** Other accounts that the caller works in, and invitations to them (spec 4.3). */
import { z } from 'zod';
import { field, flag, listTimestamp, oneOf, text } from '../list.ts';
import { operationsOf } from '../operation.ts';
import { idSchema, known, part, timestamp } from '../schema.ts';
import { PageMeta, roles } from './shared.ts';

// Other accounts that the caller may work in, and invitations to them (spec 2.3).

export const ManagedAccount = part(
  {
    id: idSchema,
    email: z.string(),
    role: known(...roles),
    company_name: z.string(),
    status: known('pending', 'connected', 'rejected'),
    all_sites_access: z.boolean(),
    created_at: timestamp,
    updated_at: timestamp,
  },
  'id',
);
export type ManagedAccount = z.output<typeof ManagedAccount>;

const managedAccount = part({ managed_account: ManagedAccount }, 'managed_account');

const operation = operationsOf('4.3');

export const managedAccountOperations = {
  listManagedAccounts: operation({
    summary: 'Lists the accounts the caller can work in, and invitations to the caller.',
    method: 'GET',
    path: '/managed-accounts',
    answer: part({ managed_accounts: z.array(ManagedAccount), meta: PageMeta }, 'managed_accounts'),
    list: {
      key: 'managed_accounts',
      filters: {
        email: text('contains'),
        role: field('role', oneOf(roles, 'eq', 'in')),
        company_name: text('contains'),
        status: field('status', oneOf(['pending', 'connected'], 'eq', 'in')),
        all_sites_access: field('all_sites_access', flag('eq')),
        created_at: field('created_at', listTimestamp('gte', 'lte')),
        updated_at: field('updated_at', listTimestamp('gte', 'lte')),
      },
      sorts: ['created_at', 'updated_at', 'status'],
      defaultSort: 'created_at,desc',
      timezone: true,
      paged: true,
    },
  }),
  deleteManagedAccount: operation({
    summary: 'Leaves an account.',
    destructive: 'The account loses its access to the managed account.',
    method: 'DELETE',
    path: '/managed-accounts/{managed_account_id}',
    errors: [400],
    effect: 'repeatable',
  }),
  acceptManagedAccount: operation({
    summary: 'Accepts an invitation that is still pending.',
    method: 'POST',
    path: '/managed-accounts/{managed_account_id}/accept',
    answer: managedAccount,
    errors: [422],
    effect: 'repeatable',
    leadsTo: { status: 'connected' },
  }),
  rejectManagedAccount: operation({
    summary: 'Rejects an invitation that is still pending.',
    destructive: 'The offer is declined; the other side has to make it again.',
    method: 'POST',
    path: '/managed-accounts/{managed_account_id}/reject',
    answer: managedAccount,
    errors: [422],
    effect: 'repeatable',
    leadsTo: { status: 'rejected' },
  }),
} as const;
