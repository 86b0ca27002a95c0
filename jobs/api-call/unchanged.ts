/**
 * A note or an entry of custom work is changed or deleted only if it is still as it was when the plan was made:
 * people edit them too, and an update would overwrite what they wrote.
 */
import type { OperationId } from '../../src/contract/operations.ts';
import type { End } from '../../src/job/answer.ts';
import type { Api } from '../../src/job/api.ts';
import type { CandidateSource } from '../../src/job/candidates.ts';
import type { Items } from '../../src/job/job.ts';
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
