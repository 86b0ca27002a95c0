export interface ManagedAccount {
  readonly id: string;
  /** The owner of the account, who sent the invitation. */
  readonly email: string;
  /** The recipient of the invitation. The caller does not see invitations to others. */
  readonly invited: string;
  readonly role: 'collaborator' | 'administrator' | 'co_owner';
  readonly companyName: string;
  status: 'pending' | 'connected' | 'rejected';
  readonly allSitesAccess: boolean;
  readonly createdAt: number;
  updatedAt: number;
}
