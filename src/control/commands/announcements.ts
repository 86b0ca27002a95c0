/** Announced changes (`grace`): which there are, and to cancel one before it is made. */
import { z } from 'zod';
import { isPermitted } from '../../access/principal.ts';
import type { Client } from '../../client/client.ts';
import { isoTime } from '../../clock.ts';
import { createJobApi } from '../../engine/job-api.ts';
import { CaretakerError } from '../../errors.ts';
import { formatUtc, readAnnouncement } from '../../job/grace/announcement.ts';
import { idOf, type Memory } from '../../job/grace/grace.ts';
import { cancelledText, takeBack } from '../../job/grace/withdraw.ts';
import { isAnyOf } from '../../records/filter-values.ts';
import {
  type Announced,
  AnnouncementReport,
  announcementNamed,
  keyOf,
  noAnnouncement,
  openAnnouncements,
} from '../announcements.ts';
import { type BaseDeps, defineCommand } from '../command.ts';
import { AnnouncementError, NotFoundError } from '../errors.ts';
import { reason, someText } from '../fields.ts';

export interface AnnouncementDeps {
  link(account: string): { client: Client };
}

export const toAnnouncementReport = (one: Announced): AnnouncementReport => ({
  id: one.id,
  policy: one.policy,
  account: one.account,
  target: one.target,
  label: one.label,
  operation: one.operation,
  site: one.siteId ?? null,
  change_from: one.memory && Number.isFinite(one.memory.from) ? isoTime(one.memory.from) : null,
  cancelled_at: one.memory?.cancelled ? isoTime(one.memory.cancelled.at) : null,
  cancelled_by: one.memory?.cancelled?.by ?? null,
  reason: one.memory?.cancelled?.reason ?? null,
});

export const listAnnouncements = defineCommand()({
  name: 'announcements.list',
  summary: 'Lists the changes that are announced (`grace`) and not made yet, the next one first.',
  role: 'viewer',
  reads: true,
  path: '/announcements',
  input: z.strictObject({
    policy: someText.describe('Only of this policy.'),
    limit: z.coerce.number().int().min(1).max(1000).default(100),
  }),
  subject: () => undefined,
  async carryOut({ policy, limit }, { records }, { by: { principal } }) {
    const open = (await openAnnouncements(records)).filter(
      (one) => isAnyOf(policy, (some) => one.policy === some) && isPermitted(principal, 'viewer', one),
    );
    return { announcements: open.slice(0, limit), total: open.length };
  },
  answer: z.object({ announcements: z.array(AnnouncementReport), total: z.int() }),
  toAnswer: ({ announcements, total }) => ({
    announcements: announcements.map(toAnnouncementReport),
    total,
  }),
});

/** The result of the note of a cancelled announcement. */
const noteResults = ['removed', 'marked', 'none', 'left'] as const;

const CancelledAnswer = AnnouncementReport.extend({
  note: z
    .enum(noteResults)
    .describe(
      '`marked`: the note had been edited, so it stays and shows that the change was cancelled. `left`: the next run of the policy removes it.',
    ),
  note_detail: z.string().nullable().describe('Why the note is left.'),
  in_progress: z
    .string()
    .nullable()
    .describe('The run that has begun to work on the target: it may make the change nevertheless.'),
});
export type CancelledAnswer = z.output<typeof CancelledAnswer>;

interface Cancelled {
  announcement: Announced;
  /** `marked`: a person had edited it, so it stays and shows that the change was cancelled. `left`: see `why`. */
  note: (typeof noteResults)[number];
  /** Why the note could not be removed. The next run of the policy removes it. */
  why: string | undefined;
  /** The active run that has begun to work on the target: its change may be made nevertheless. */
  inProgress: string | undefined;
}

async function needAnnouncement({ records }: Pick<BaseDeps, 'records'>, id: string): Promise<Announced> {
  const found = await announcementNamed(records, id);
  if (found) return found;
  throw new NotFoundError(noAnnouncement(id));
}

export const cancelAnnouncement = defineCommand<AnnouncementDeps>()({
  name: 'announcements.cancel',
  summary:
    'Cancels an announced change: it is not made, and not announced again before 90 days after its date. The note on the site is removed.',
  role: 'operator',
  path: '/announcements/{announcement}/cancel',
  input: z.strictObject({ announcement: z.string().min(1).describe('The id of an announcement.'), reason }),
  async subject({ announcement: id }, deps) {
    const { policy, account, label, target, operation } = await needAnnouncement(deps, id);
    return { policy, account, detail: `${operation} of ${target} (${label})` };
  },
  async carryOut({ announcement: id, reason }, deps, act): Promise<Cancelled> {
    const announcement = await needAnnouncement(deps, id);
    const by = act.by.principal.name;
    const memory = await remember(deps, announcement, { at: act.at, by, ...(reason ? { reason } : {}) });
    const inProgress = await runThatActs(deps, announcement);
    const note = await removeNote(deps, announcement, memory);
    return { announcement: { ...announcement, memory }, ...note, inProgress };
  },
  outcome: ({ note, why }) => (why === undefined ? {} : { detail: `its note is ${note}: ${why}` }),
  answer: CancelledAnswer,
  toAnswer: ({ announcement, note, why, inProgress }): CancelledAnswer => ({
    ...toAnnouncementReport(announcement),
    note,
    note_detail: why ?? null,
    in_progress: inProgress ?? null,
  }),
});

type CancelledMemory = Memory & Required<Pick<Memory, 'cancelled'>>;

/** From here on no run makes the change that has not begun to. */
async function remember(
  { records }: Pick<BaseDeps, 'records'>,
  announcement: Announced,
  cancelled: NonNullable<Memory['cancelled']>,
): Promise<CancelledMemory> {
  const { memory, result, account } = announcement;
  if (memory?.cancelled) return { ...memory, cancelled: memory.cancelled };
  if (memory && result !== undefined) {
    const after = { ...memory, cancelled };
    if (await records.once.replace(account, keyOf(announcement), result, JSON.stringify(after))) return after;
  }
  throw new AnnouncementError(
    `A run of ${announcement.policy} writes this announcement now. Nothing was cancelled: repeat this in a minute.`,
  );
}

async function runThatActs(
  { records }: Pick<BaseDeps, 'records'>,
  { account, policy, target: id }: Announced,
): Promise<string | undefined> {
  for (const run of await records.runs.active(account, { policy })) {
    const target = await records.targets.get(run.id, id);
    if (target && target.state !== 'pending' && target.state !== 'ended') return run.id;
  }
  return undefined;
}

const asPerson = { requestClass: 'person' } as const;

/**
 * Removes the note, or marks it when a person has edited it. Two requests; none for a target without a site. The
 * announcement stays open: the next run of the policy looks whether the note is gone, and withdraws it.
 */
async function removeNote(
  { link }: AnnouncementDeps,
  announcement: Announced,
  memory: CancelledMemory,
): Promise<Pick<Cancelled, 'note' | 'why'>> {
  const { account, policy } = announcement;
  const id = idOf(announcement);
  if (!id || memory.noteId === undefined) return { note: 'none', why: undefined };
  try {
    const { client } = link(account);
    const { api } = createJobApi(client, asPerson, (operation, input) =>
      client.call(operation, input, asPerson),
    );
    const found = await readAnnouncement(api, id, memory.noteId);
    if (typeof found !== 'object') return { note: 'removed', why: undefined };
    const text = cancelledText(policy, memory.cancelled);
    const isRemoved = await takeBack(api, id, found, memory, text);
    return { note: isRemoved ? 'removed' : 'marked', why: undefined };
  } catch (error) {
    if (error instanceof CaretakerError) return { note: 'left', why: error.message };
    throw error;
  }
}

/** What a person reads after it: that the change is cancelled, and the result of the note. */
export function sentencesOf(answer: CancelledAnswer): string[] {
  const { policy, label, change_from: from, note, note_detail: why, in_progress: run } = answer;
  const date = from === null ? '' : ` of ${formatUtc(Date.parse(from))}`;
  const ofNote = {
    removed: ['Its note was removed.'],
    marked: ['Its note had been edited, so it stays and shows that the change was cancelled.'],
    none: [],
    left: [`Its note could not be removed; the next run of ${policy} does so: ${why}`],
  };
  return [
    `Cancelled: ${policy} does not make the change${date} to ${label}.`,
    ...ofNote[note],
    ...(run === null
      ? []
      : [`The run ${run} has begun to work on this target, so the change may be made nevertheless.`]),
  ];
}
