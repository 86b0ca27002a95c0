/** Other accounts that the caller works in, and invitations to them (spec 4.3). */
import type { ManagedAccount as ShownAccount } from '../../contract/operations/managed-accounts.ts';
import type { ManagedAccount } from '../model/account.ts';
import type { World } from '../model/world.ts';
import { cannot, notFound } from '../refusal.ts';
import { type Handler, lists, shown } from './handler.ts';

/** The view of a managed account (spec 2.3). */
export const managedAccountView = (account: ManagedAccount): ShownAccount => ({
  id: account.id,
  email: account.email,
  role: account.role,
  company_name: account.companyName,
  status: account.status,
  all_sites_access: account.allSitesAccess,
  created_at: shown(account.createdAt),
  updated_at: shown(account.updatedAt),
});

/**
 * Pending -> connected or rejected.
 *
 * @throws {Refusal} 422 when the invitation was already answered.
 */
export function answerInvitation(
  account: ManagedAccount,
  status: 'connected' | 'rejected',
  at: number,
): void {
  if (account.status !== 'pending') {
    throw cannot('invitation_not_pending', `The invitation is ${account.status} already.`);
  }
  account.status = status;
  account.updatedAt = at;
}

/** Invitations to another account are not visible to the caller. */
function managedAccountOf(world: World, id: string): ManagedAccount {
  const account = world.managedAccounts.get(id);
  if (account?.invited !== world.caller.email) throw notFound('managed account', id);
  return account;
}

/** A rejected invitation is not listed. */
export const listManagedAccounts = lists<'listManagedAccounts', ManagedAccount>({
  items: ({ world }) =>
    [...world.managedAccounts.values()].filter(
      ({ invited, status }) => invited === world.caller.email && status !== 'rejected',
    ),
  fields: {
    email: (account) => account.email,
    role: (account) => account.role,
    company_name: (account) => account.companyName,
    status: (account) => account.status,
    all_sites_access: (account) => account.allSitesAccess,
    created_at: (account) => account.createdAt,
    updated_at: (account) => account.updatedAt,
  },
  view: managedAccountView,
});

/** The row has no 422, so an account that is not connected is answered 404. */
export const deleteManagedAccount: Handler<'deleteManagedAccount'> = ({ world, params, changed }) => {
  const account = managedAccountOf(world, params.managed_account_id);
  if (account.status !== 'connected') throw notFound('connected account', account.id);
  world.managedAccounts.delete(account.id);
  changed(account.id);
};

export const acceptManagedAccount: Handler<'acceptManagedAccount'> = ({ world, now, params, changed }) => {
  const account = managedAccountOf(world, params.managed_account_id);
  answerInvitation(account, 'connected', now);
  changed(account.id);
  return { managed_account: managedAccountView(account) };
};

export const rejectManagedAccount: Handler<'rejectManagedAccount'> = ({ world, now, params, changed }) => {
  const account = managedAccountOf(world, params.managed_account_id);
  answerInvitation(account, 'rejected', now);
  changed(account.id);
  return { managed_account: managedAccountView(account) };
};
