/** An announcement that a run has begun to write, and has not written yet. */
import { openAnnouncements } from '../../src/control/announcements.ts';
import { announcementKey, type OpenAnnouncement } from '../../src/job/grace/grace.ts';
import type { Records } from '../../src/records/records.ts';

/** Adds one of a policy to the records, and gives its id. */
export async function announcementOf(
  records: Pick<Records, 'announcements' | 'once'>,
  policy: string,
  account = 'default',
): Promise<string> {
  const marker = `caretaker ${policy}`;
  const facts: OpenAnnouncement = {
    step: 0,
    target: `site-${policy}`,
    label: `site-${policy}.example`,
    marker,
    about: `deleteSite site-${policy}`,
    operation: 'deleteSite',
    siteId: `site-${policy}`,
  };
  await records.announcements.add(account, policy, announcementKey(facts), JSON.stringify(facts));
  const found = (await openAnnouncements(records)).find((one) => one.policy === policy);
  if (!found) throw new Error('It was just added.');
  return found.id;
}
