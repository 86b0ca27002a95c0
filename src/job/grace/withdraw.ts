/**
 * An announcement whose target the policy no longer selects, or whose change was cancelled by a command, is withdrawn:
 * it would announce what is not done. Its note is removed. One that a person has edited is kept, and then says that the
 * announcement was withdrawn. When the policy selects a target again, the change is announced again, with the whole
 * grace period.
 *
 * A withdrawal is a target of its own, in addition to the candidates: what it works on is the announcement.
 */
import { z } from 'zod';
import { defined } from '../../defined.ts';
import type { Answer, End, Reconciled } from '../answer.ts';
import type { Api } from '../api.ts';
import type { Acting, ExtraTarget, Intent } from '../job.ts';
import { problemWith } from '../problem.ts';
import {
  type Announcement,
  type AnnouncementId,
  formatUtc,
  hashOfNote,
  readAnnouncement,
  removeAnnouncement,
  retractAnnouncement,
} from './announcement.ts';
import { announcementKey, forget, type Graced, idOf, lookFor, type Memory, parseMemory } from './grace.ts';
import type { Announcements } from './plan.ts';

/** The announcement that a target withdraws. */
export const Withdrawal = z.object({
  marker: z.string(),
  about: z.string(),
  siteId: z.exactOptional(z.string()),
  /** When it was remembered, as the plan saw it: one that was written since is not withdrawn. */
  at: z.exactOptional(z.number()),
});
export type Withdrawal = z.output<typeof Withdrawal>;

/** A target that withdraws an announcement. */
type WithdrawingTarget = ExtraTarget<never> & { is: 'target' };

/**
 * The open announcements that are to be withdrawn, as targets: the policy no longer selects the target, declares the
 * change differently, or a person cancelled it. None when the plan does not cover everything that the policy selects.
 */
export function* withdrawals<State>(
  { open, idFor }: Announcements,
  isSelected: ((target: string) => boolean) | undefined,
  stateOf: (withdrawal: Withdrawal) => State,
): Generator<ExtraTarget<State>> {
  if (!isSelected) return;
  for (const { target, label, marker, about, siteId, at, cancelled } of open) {
    const now = idFor(target);
    if (!cancelled && isSelected(target) && now?.marker === marker && now.about === about) continue;
    const withdrawal = {
      marker,
      about,
      ...defined({ siteId, at }),
    };
    yield {
      is: 'target',
      id: `announcement of ${about}`,
      label,
      ...defined({ site: siteId }),
      takesBack: true,
      state: stateOf(withdrawal),
      plan: cancelled
        ? `Would withdraw its announcement: ${cancelled.by} has cancelled it`
        : 'Would withdraw its announcement: the policy no longer selects it',
    } satisfies Omit<WithdrawingTarget, 'state'> & { state: State };
  }
}

type Withdrawing = Graced & Pick<Acting<unknown>, 'runContext'>;

/**
 * Withdraws an announcement. Costs two requests while our records know the note and it is there. Else one per 100 notes
 * with the marker, and one for a note that is found. None for a target without a site. One effect at most:
 * `deleteSiteNote`, or `updateSiteNote` when a person has edited the note.
 *
 * @throws {NotShownError} when a note does not show its content.
 */
export async function withdraw(acting: Withdrawing, withdrawal: Withdrawal): Promise<Answer<never>> {
  const { once, api, now, runContext } = acting;
  const holder = await once.holder(announcementKey(withdrawal));
  if (holder && !holder.isOurs && holder.endedAt === undefined)
    return { is: 'waiting', reason: 'conflict', detail: `The run ${holder.run} announces it.` };
  const memory = parseMemory(holder?.result);
  if (holder && !holder.isOurs && memory?.at !== withdrawal.at)
    return {
      is: 'skipped',
      reason: 'not-eligible',
      detail: 'It was announced again after the plan was made.',
    };
  const id = idOf(withdrawal);
  try {
    const found = id && (await lookFor(acting, id, memory?.noteId));
    if (!id) return await withdrawn(acting, withdrawal, 'It had no note.');
    if (found === 'removed') {
      // A person has cancelled the change, which stays so: only the announcement is no longer open.
      await acting.announcements.remove(announcementKey(withdrawal));
      return withdrawnEnd('Its note was removed.');
    }
    if (typeof found !== 'object') return await withdrawn(acting, withdrawal, 'Its note was not there.');
    const text = memory?.cancelled
      ? cancelledText(runContext.policy, memory.cancelled)
      : `Withdrawn on ${formatUtc(now)}: Caretaker's policy "${runContext.policy}" no longer selects it.`;
    const isRemoved = await takeBack(api, id, found, memory, text);
    return await withdrawn(acting, withdrawal, isRemoved ? 'Its note was removed.' : keptNote);
  } catch (error) {
    if (!problemWith(error).gone) throw error;
    return withdrawn(acting, withdrawal, 'Its note or its site is gone.');
  }
}

/**
 * Removes the note of an announcement, or, when a person has edited it, replaces its last line by `text`. Gives whether
 * it was removed. One effect, `deleteSiteNote` or `updateSiteNote`.
 */
export async function takeBack(
  api: Api,
  id: AnnouncementId,
  found: Announcement,
  memory: Pick<Memory, 'hash'> | undefined,
  text: string,
): Promise<boolean> {
  const isOurs = hashOfNote(found.content) === memory?.hash;
  if (isOurs) await removeAnnouncement(api, id, found.noteId);
  else await retractAnnouncement(api, id, found, text);
  return isOurs;
}

/** What an edited note says of a change that a person cancelled. */
export const cancelledText = (policy: string, { at, by }: NonNullable<Memory['cancelled']>): string =>
  `Cancelled on ${formatUtc(at)} by ${by}: Caretaker's policy "${policy}" does not make this change.`;

const keptNote = 'Its note was edited, so it was kept, and now says that the announcement was withdrawn.';

/** Whether the lost `deleteSiteNote` or `updateSiteNote` of `withdraw`. One request. */
export async function reconcileWithdrawal(
  acting: Withdrawing,
  withdrawal: Withdrawal,
  { operation, note = '' }: Pick<Intent, 'operation' | 'note'>,
): Promise<Reconciled<never>> {
  const id = idOf(withdrawal);
  const found = id && (await readAnnouncement(acting.api, id, note));
  if (typeof found === 'object') return { is: 'absent' };
  return withdrawn(acting, withdrawal, operation === 'deleteSiteNote' ? 'Its note was removed.' : keptNote);
}

async function withdrawn(
  acting: Pick<Graced, 'once' | 'announcements'>,
  withdrawal: Withdrawal,
  detail: string,
): Promise<End> {
  const key = announcementKey(withdrawal);
  const cancelled = parseMemory((await acting.once.holder(key))?.result)?.cancelled;
  // What was cancelled stays so, like what a person has cancelled by removing the note.
  if (cancelled) await acting.announcements.remove(key);
  else await forget(acting, withdrawal);
  return withdrawnEnd(cancelled ? `${cancelled.by} has cancelled the change. ${detail}` : detail);
}

const withdrawnEnd = (detail: string): End => ({ is: 'done', reason: 'announcement-withdrawn', detail });
