/** The view of a sender email (spec 2.5), and the reference to it in other resources. */
import type { SenderEmail as ShownSenderEmail } from '../../contract/resources/sender-email.ts';
import type { DnsRecord, SenderEmail } from '../model/account.ts';
import type { World } from '../model/world.ts';
import { shown } from './account.ts';

export const senderEmailView = (sender: SenderEmail): ShownSenderEmail => ({
  id: sender.id,
  email: sender.email,
  name: sender.name,
  status: sender.status,
  domain: { dkim: record(sender.dkim), return_path: record(sender.returnPath) },
  created_at: shown(sender.createdAt),
  updated_at: shown(sender.updatedAt),
});

const record = ({ hostname, value, verified }: DnsRecord) => ({ hostname, value, verified });

/** Id and address of a sender email, or null if there is none. */
export function senderReference(world: World, id: string | null): { id: string; email: string } | null {
  const sender = id === null ? undefined : world.senderEmails.get(id);
  return sender ? { id: sender.id, email: sender.email } : null;
}
