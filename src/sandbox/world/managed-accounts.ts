/** Other accounts that the caller works in, and invitations to them (spec 2.3). */

import type { ManagedAccount } from '../model/account.ts';
import { cannot } from '../refusal.ts';

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
