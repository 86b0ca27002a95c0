/** Other accounts that the caller works in, and invitations to them (spec 2.3). */
import { cannot } from '../refusal.ts';

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

/**
 * Pending -> connected or rejected.
 *
 * @throws {Refusal} 422 when the invitation has been answered before.
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
