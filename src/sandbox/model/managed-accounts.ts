export interface ManagedAccount {
  readonly id: string;
  /** Of the account's owner, who has sent the invitation. */
  readonly email: string;
  /** Whom the invitation was sent to; somebody else's invitations are kept from the caller. */
  readonly invited: string;
  readonly role: 'collaborator' | 'administrator' | 'co_owner';
  readonly companyName: string;
  status: 'pending' | 'connected' | 'rejected';
  readonly allSitesAccess: boolean;
  readonly createdAt: number;
  updatedAt: number;
}
