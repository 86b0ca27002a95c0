/**
 * The sender emails of the fleet: two verified, one of them without DNS, and two that their owners have not
 * confirmed.
 */

import type { World } from '../model/world.ts';
import { addSenderEmail, refresh } from '../world/sender-emails.ts';
import { DAY, MINUTE } from '../world/service-time.ts';

const specs = [
  { email: 'reports@agency.example', name: 'Agency Reports', agoMs: 300 * DAY, refreshed: true },
  { email: 'care@unpublished.example', name: 'Care Team', agoMs: 90 * DAY, refreshed: true },
  { email: 'never.read@agency.example', name: 'Old Mailbox', agoMs: 45 * DAY, refreshed: true },
  { email: 'hello@studio.example', name: 'Studio', agoMs: 2 * MINUTE, refreshed: false },
] as const;

/** Adds them with past times, oldest first. */
export function generateSenderEmails(world: World): void {
  for (const { email, name, agoMs, refreshed } of specs) {
    const at = world.startedAt - agoMs;
    const sender = addSenderEmail(world, email, name, at);
    if (refreshed && refresh(sender, at + DAY)) sender.updatedAt = at + DAY;
  }
}
