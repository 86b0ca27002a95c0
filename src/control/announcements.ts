/** The announcements (`grace`) of all policies, as our records know them. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { announcementKey, type Memory, OpenAnnouncement, parseMemory } from '../job/grace/grace.ts';
import type { Records } from '../records/records.ts';

/** An announced change that is neither made nor withdrawn. */
export interface Announced extends OpenAnnouncement {
  /** Identifies it in commands and addresses; the same as long as it is open. */
  id: string;
  account: string;
  policy: string;
  /** Its text in the records; undefined while a run writes it. */
  result?: string;
  memory?: Memory;
}

type AnnouncementRecords = Pick<Records, 'announcements' | 'once'>;

/** The open announcements, those whose change comes first at the beginning. Costs no request. */
export async function openAnnouncements(records: AnnouncementRecords): Promise<Announced[]> {
  const found: Announced[] = [];
  for (const { account, policy } of await records.announcements.announcing()) {
    const facts = [...(await records.announcements.all(account, policy))];
    const results = await records.once.results(
      account,
      facts.map(([key]) => key),
    );
    for (const [i, [key, text]] of facts.entries()) {
      const result = results[i];
      const memory = parseMemory(result);
      found.push({
        ...OpenAnnouncement.parse(JSON.parse(text)),
        id: idOf(account, policy, key),
        account,
        policy,
        ...(result === undefined ? {} : { result }),
        ...(memory ? { memory } : {}),
      });
    }
  }
  const from = ({ memory }: Announced) => memory?.from ?? Number.POSITIVE_INFINITY;
  return found.sort((a, b) => from(a) - from(b) || a.id.localeCompare(b.id));
}

/** What a person is told who names one that is not open. */
export const noAnnouncement = (id: string): string =>
  `There is no open announcement "${id}". "caretaker announcements" lists them. A change that was made or cancelled is no longer announced.`;

export const announcementNamed = async (
  records: AnnouncementRecords,
  id: string,
): Promise<Announced | undefined> => (await openAnnouncements(records)).find((one) => one.id === id);

const idOf = (account: string, policy: string, key: string): string =>
  createHash('sha256')
    .update(JSON.stringify([account, policy, key]))
    .digest('hex')
    .slice(0, 12);

/** An announcement, for people and programs. */
export const AnnouncementReport = z
  .object({
    id: z.string(),
    policy: z.string(),
    account: z.string(),
    target: z.string(),
    label: z.string().describe('What the target is called.'),
    operation: z.string().describe('The operation that makes the change.'),
    site: z.string().nullable().describe('The site with the note; null when it belongs to no site.'),
    change_from: z.iso
      .datetime()
      .nullable()
      .describe('The announced date. A later date in the note counts instead.'),
    cancelled_at: z.iso.datetime().nullable(),
    cancelled_by: z.string().nullable(),
    reason: z.string().nullable().describe('Why it was cancelled.'),
  })
  .meta({ id: 'Announcement' });
export type AnnouncementReport = z.output<typeof AnnouncementReport>;

/** The key of an announcement in the stores. */
export const keyOf = (one: Announced): string => announcementKey(one);
