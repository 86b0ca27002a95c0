/**
 * Sender addresses of reports (spec 2.5, 3): pending until their owner has confirmed and a refresh was
 * requested. The DNS records are published some time after their values are known.
 */

import type { DnsRecord, SenderEmail } from '../model/account.ts';
import type { World } from '../model/world.ts';
import { idOf, nextNumber } from './ids.ts';
import { randomFrom, seedOf } from './random.ts';
import { MINUTE } from './service-time.ts';

/** How long an owner takes to answer a verification email. */
export const CONFIRMS_AFTER_MS = 10 * MINUTE;
/** How long it takes until new DNS values are published and accepted. */
export const PUBLISHED_AFTER_MS = 30 * MINUTE;

/**
 * Adds a sender email; its owner is asked to confirm it. Owners of addresses that begin with `never` do not.
 */
export function addSenderEmail(world: World, email: string, name: string, now: number): SenderEmail {
  const sender: SenderEmail = {
    id: idOf('sender', nextNumber(world, 'sender')),
    email,
    name,
    status: 'pending',
    confirmsAt: null,
    dkim: { hostname: '', value: '', verified: false, publishedAt: null },
    returnPath: { hostname: '', value: 'mail.service.example', verified: false, publishedAt: null },
    rotations: 0,
    createdAt: now,
    updatedAt: now,
  };
  askOwner(sender, now);
  giveDkim(world, sender, now);
  giveReturnPath(sender, `bounces.${domainOf(email)}`, now);
  world.senderEmails.set(sender.id, sender);
  return sender;
}

/** Sends a verification email. An earlier request is still answered at its time. */
export function askOwner(sender: SenderEmail, now: number): void {
  if (sender.email.startsWith('never')) return;
  sender.confirmsAt = Math.min(sender.confirmsAt ?? Number.POSITIVE_INFINITY, now + CONFIRMS_AFTER_MS);
}

/** Creates new DKIM values; the old ones are no longer valid. */
export function rotateDkim(world: World, sender: SenderEmail, now: number): void {
  sender.rotations += 1;
  giveDkim(world, sender, now);
}

/** Sets another hostname for bounces, which has to be published again. */
export function giveReturnPath(sender: SenderEmail, hostname: string, now: number): void {
  const publishedAt = publishes(sender) ? now + PUBLISHED_AFTER_MS : null;
  sender.returnPath = { ...sender.returnPath, hostname, verified: false, publishedAt };
}

/** Checks whether a record is published and accepted. Returns whether that changed. */
export function lookUp(record: DnsRecord, now: number): boolean {
  const verified = record.publishedAt !== null && record.publishedAt <= now;
  const isChange = verified !== record.verified;
  record.verified = verified;
  return isChange;
}

/** Checks whether the owner has confirmed, and both records. Returns whether anything changed. */
export function refresh(sender: SenderEmail, now: number): boolean {
  const confirmed = sender.confirmsAt !== null && sender.confirmsAt <= now;
  const isChange = confirmed && sender.status === 'pending';
  if (isChange) sender.status = 'verified';
  const changes = [lookUp(sender.dkim, now), lookUp(sender.returnPath, now)];
  return isChange || changes.includes(true);
}

function giveDkim(world: World, sender: SenderEmail, now: number): void {
  const random = randomFrom(seedOf(world.seed, `dkim ${sender.id} ${sender.rotations}`));
  const key = Array.from({ length: 48 }, () => random.between(0, 15).toString(16)).join('');
  sender.dkim = {
    hostname: `${random.between(10_000_000, 99_999_999)}sm._domainkey.${domainOf(sender.email)}`,
    value: `k=rsa; p=${key}`,
    verified: false,
    publishedAt: publishes(sender) ? now + PUBLISHED_AFTER_MS : null,
  };
}

const domainOf = (email: string): string => email.split('@').at(-1) ?? '';
/** Owners of such a domain never publish their DNS records. */
const publishes = ({ email }: SenderEmail): boolean => !domainOf(email).startsWith('unpublished.');
