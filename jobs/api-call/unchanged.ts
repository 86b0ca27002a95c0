/**
 * A note or an entry of custom work is changed or deleted only if it is still as it was when the plan was made:
 * people edit them too, and an update would overwrite what they wrote.
 */
import type { Input, OperationId } from '../../src/contract/operations.ts';
import type { End } from '../../src/job/answer.ts';
import type { Api } from '../../src/job/api.ts';
import type { CandidateSource } from '../../src/job/candidates.ts';
import type { Items } from '../../src/job/job.ts';
import { lastingId } from '../../src/job/reconcile/replaced-item.ts';
import { shown } from '../../src/job/shown.ts';
import type { Source } from '../../src/job/source.ts';

/** What is compared; of an update, with the fields that it sets. */
interface Item {
  updated_at?: string | undefined;
  [field: string]: unknown;
}

interface Guard {
  /** The list whose items the operation is about. */
  from: CandidateSource;
  /** The single view. One request. */
  show(api: Api, input: never): Promise<Item>;
  /** The key of the body that has the fields to be set; none for a deletion. */
  sets?: string;
}

const note = {
  from: 'listSiteNotes',
  show: async (api: Api, input: { site_id: string; note_id: string }): Promise<Item> =>
    (await api.showSiteNote({ site_id: input.site_id, note_id: input.note_id })).note,
} as const;

const work = {
  from: 'listSiteCustomWorks',
  show: async (api: Api, input: { site_id: string; custom_work_id: string }): Promise<Item> => {
    const { site_id, custom_work_id } = input;
    return (await api.showSiteCustomWork({ site_id, custom_work_id })).custom_work;
  },
} as const;

const guards: Partial<Record<OperationId, Guard>> = {
  updateSiteNote: { ...note, sets: 'note' },
  deleteSiteNote: note,
  updateSiteCustomWork: { ...work, sets: 'custom_work' },
  deleteSiteCustomWork: work,
};

/** The service may remove white space around a text. */
const isSame = (one: unknown, other: unknown): boolean =>
  typeof one === 'string' && typeof other === 'string' ? one.trim() === other.trim() : one === other;

/** Whether a call of this operation is preceded by a look at its item. One request for each target. */
export const looksFirst = (operation: OperationId): boolean => guards[operation] !== undefined;

/**
 * When the item was last changed, as the plan saw it; undefined for an operation that is not about it.
 *
 * @throws {NotShownError} when the item does not show it.
 */
export function lastChangeOf(
  operation: OperationId,
  { from, subject }: Source,
  items: Items,
): string | undefined {
  if (guards[operation]?.from !== from) return undefined;
  return shown((items[subject] as Item).updated_at, `${subject}.updated_at`);
}

/**
 * The end of a target that has changed since, or that has what the update would set; undefined when the call is to
 * be made. Costs one request.
 *
 * @throws the client's errors, `GoneError` among them.
 */
export async function endOfChanged(
  api: Api,
  operation: OperationId,
  input: Readonly<Record<string, unknown>>,
  lastChange: string,
): Promise<End | undefined> {
  const guard = guards[operation];
  const item = await guard?.show(api, input as never);
  if (!guard || !item || item.updated_at === lastChange) return undefined;
  const body = (input['body'] ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const wanted = Object.entries(body[guard.sets ?? ''] ?? {});
  if (wanted.length > 0 && wanted.every(([field, value]) => isSame(item[field], value)))
    return { is: 'done', reason: 'already-done' };
  return { is: 'skipped', reason: 'not-eligible', detail: 'It has changed since the plan was made.' };
}

// What is recorded of an item directly before a call: only that shows after a lost answer whether the call was made.

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
