/** The view of a managed account (spec 2.3). */
import type { ManagedAccount as Shown } from '../../contract/resources/managed-account.ts';
import type { ManagedAccount } from '../model/managed-accounts.ts';
import { shown } from './timestamp.ts';

export const managedAccountView = (account: ManagedAccount): Shown => ({
  id: account.id,
  email: account.email,
  role: account.role,
  company_name: account.companyName,
  status: account.status,
  all_sites_access: account.allSitesAccess,
  created_at: shown(account.createdAt),
  updated_at: shown(account.updatedAt),
});
