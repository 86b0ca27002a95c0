/**
 * The status of a report's email: sent, delivered, opened, in that order and by itself. The beginning of an
 * address can select another status. It is computed, so nothing has to be updated.
 */

import type { Mail, MailStatus, Reporting, SentTo } from '../model/reporting.ts';
import { MINUTE, SECOND } from './service-time.ts';

/** Times after sending. */
const DELIVERED_AFTER_MS = 20 * SECOND;
const MARKED_AS_SPAM_AFTER_MS = 2 * MINUTE;
const OPENED_AFTER_MS = 5 * MINUTE;

/** Beginnings of addresses whose mail is not delivered. */
const undelivered = { bounce: 'bounced', fail: 'failed' } as const;

/** Statuses of a mail that was delivered. */
const arrived: ReadonlySet<MailStatus> = new Set(['delivered', 'opened', 'spam']);

/** The status of a mail at `now`. */
export function mailAt({ email, sentAt }: SentTo, { mailEnds, takes }: Reporting, now: number): Mail {
  const age = now - sentAt;
  const deliveredAfterMs = takes?.deliveryMs ?? DELIVERED_AFTER_MS;
  const mail: Mail = { email, status: 'sent', sentAt, deliveredAt: null, openedAt: null };
  const end = mailEnds.get(email);
  if (end) {
    const deliveredAt = arrived.has(end) ? Math.min(now, sentAt + deliveredAfterMs) : null;
    return { ...mail, status: end, deliveredAt, openedAt: end === 'opened' ? deliveredAt : null };
  }
  if (age < deliveredAfterMs || email.startsWith('stuck')) return mail;
  for (const [beginning, status] of Object.entries(undelivered)) {
    if (email.startsWith(beginning)) return { ...mail, status };
  }
  const delivered: Mail = { ...mail, status: 'delivered', deliveredAt: sentAt + deliveredAfterMs };
  if (email.startsWith('spam')) {
    return age < MARKED_AS_SPAM_AFTER_MS ? delivered : { ...delivered, status: 'spam' };
  }
  if (age < OPENED_AFTER_MS || email.startsWith('unread')) return delivered;
  return { ...delivered, status: 'opened', openedAt: sentAt + OPENED_AFTER_MS };
}
