/** What is recorded of an item directly before a call: only that shows after a lost answer whether the call was made. */
import type { Input, OperationId } from '../../src/contract/operations.ts';
import type { Api } from '../../src/job/api.ts';
import { lastingId } from '../../src/job/reconcile/replaced-item.ts';

/**
 * Reads the value that an operation changes, directly before the change. It is recorded with the intent:
 * after a lost answer, only a comparison with it shows whether the change was made. One request.
 */
export const valueBefore: Partial<
  Record<OperationId, (api: Api, input: never) => Promise<string | undefined>>
> = {
  extendStagingSiteExpiry: async (api, input: Input<'extendStagingSiteExpiry'>) =>
    (await api.showStagingSite({ staging_site_id: input.staging_site_id })).staging_site.expires_at,
  rotateSenderEmailDkim: async (api, input: Input<'rotateSenderEmailDkim'>) =>
    (await api.showSenderEmail({ sender_email_id: input.sender_email_id })).sender_email.domain?.dkim?.value,
  updateTeamMember: emailBefore,
  resendTeamMemberInvitation: emailBefore,
};

async function emailBefore(api: Api, { team_member_id }: Input<'showTeamMember'>) {
  const { email } = (await api.showTeamMember({ team_member_id })).team_member;
  return email && lastingId(email);
}
