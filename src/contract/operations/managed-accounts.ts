/** Other accounts that the caller works in, and invitations to them (spec 4.3). */
import { z } from 'zod';
import { field, flag, listTimestamp, oneOf, text } from '../list.ts';
import { operation } from '../operation.ts';
import { ManagedAccount } from '../resources/managed-account.ts';
import { PageMeta, roles } from '../resources/shared.ts';
import { part } from '../schema.ts';

const managedAccount = part({ managed_account: ManagedAccount }, 'managed_account');

export const managedAccountOperations = {
  listManagedAccounts: operation({
    section: '4.3',
    summary: 'Lists the accounts the caller can work in, and invitations to the caller.',
    method: 'GET',
    path: '/managed-accounts',
    success: 200,
    answer: part({ managed_accounts: z.array(ManagedAccount), meta: PageMeta }, 'managed_accounts'),
    errors: [400, 401, 403, 429],
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
    section: '4.3',
    summary: 'Leaves an account.',
    destructive: 'The account loses its access to the managed account.',
    method: 'DELETE',
    path: '/managed-accounts/{managed_account_id}',
    success: 204,
    errors: [400, 401, 403, 404, 429],
    effect: 'repeatable',
  }),
  acceptManagedAccount: operation({
    section: '4.3',
    summary: 'Accepts an invitation that is still pending.',
    method: 'POST',
    path: '/managed-accounts/{managed_account_id}/accept',
    success: 200,
    answer: managedAccount,
    errors: [401, 403, 404, 422, 429],
    effect: 'repeatable',
    leadsTo: { status: 'connected' },
  }),
  rejectManagedAccount: operation({
    section: '4.3',
    summary: 'Rejects an invitation that is still pending.',
    destructive: 'The offer is declined; the other side has to make it again.',
    method: 'POST',
    path: '/managed-accounts/{managed_account_id}/reject',
    success: 200,
    answer: managedAccount,
    errors: [401, 403, 404, 422, 429],
    effect: 'repeatable',
    leadsTo: { status: 'rejected' },
  }),
} as const;
