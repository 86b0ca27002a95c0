/** Sender emails and their verification (spec 4.5). */
import type { SenderEmail as ShownSenderEmail } from '../../contract/operations/sender-emails.ts';
import type { DnsRecord, SenderEmail } from '../model/account.ts';
import type { World } from '../model/world.ts';
import { cannot, malformed } from '../refusal.ts';
import { idOf, nextNumber, randomFrom, seedOf } from '../world/numbers.ts';
import { MINUTE } from '../world/time.ts';
import { type Ask, type Handler, itemIn, lists, requireEmail, shown } from './handler.ts';

// The view of a sender email (spec 2.5), and the reference to it in other resources.

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

// Sender addresses of reports (spec 2.5, 3): pending until their owner has confirmed and a refresh was
// requested. The DNS records are published some time after their values are known.

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

const senderOf = (world: World, id: string): SenderEmail => itemIn(world.senderEmails, 'sender email', id);

export const listSenderEmails = lists<'listSenderEmails', SenderEmail>({
  items: ({ world }) => world.senderEmails.values(),
  fields: {
    email: (sender) => sender.email,
    name: (sender) => sender.name,
    status: (sender) => sender.status,
    domain_dkim_verified: (sender) => sender.dkim.verified,
    domain_return_path_verified: (sender) => sender.returnPath.verified,
    created_at: (sender) => sender.createdAt,
    updated_at: (sender) => sender.updatedAt,
  },
  view: senderEmailView,
});

export const showSenderEmail: Handler<'showSenderEmail'> = ({ world, params }) => ({
  sender_email: senderEmailView(senderOf(world, params.sender_email_id)),
});

export const createSenderEmail: Handler<'createSenderEmail'> = ({ world, now, body, changed }) => {
  const { email, name = '' } = body.sender_email;
  requireEmail(email);
  for (const sender of world.senderEmails.values()) {
    if (sender.email.toLowerCase() === email.toLowerCase()) {
      throw cannot('sender_email_exists', `There is a sender email "${email}" already.`);
    }
  }
  const sender = addSenderEmail(world, email, name, now);
  changed(sender.id);
  return { sender_email: senderEmailView(sender) };
};

/**
 * A sender email in use by the login screen, a template or a scheduled report cannot be deleted. Existing
 * reports do not count.
 */
export const deleteSenderEmail: Handler<'deleteSenderEmail'> = ({ world, params, changed }) => {
  const sender = senderOf(world, params.sender_email_id);
  if (isUsed(world, sender.id)) {
    throw cannot('sender_email_in_use', 'The login screen, a template or a scheduled report sends from it.');
  }
  world.senderEmails.delete(sender.id);
  changed(sender.id);
};

function isUsed({ branding, reporting }: World, id: string): boolean {
  const { templates, scheduled } = reporting;
  const settings = [...templates.values(), ...scheduled.values()].map(({ email }) => email);
  return branding.login.senderId === id || settings.some(({ senderId }) => senderId === id);
}

/** The field of the return-path hostname is our choice: the spec does not show it. */
export const updateSenderEmail: Handler<'updateSenderEmail'> = ({ world, now, params, body, changed }) => {
  const sender = senderOf(world, params.sender_email_id);
  const { name = sender.name, return_path_hostname: hostname, ...unknown } = body.sender_email;
  const [stranger] = Object.keys(unknown);
  if (stranger !== undefined) throw malformed(`sender_email.${stranger} is not taken here`);
  const returnPath = hostname === undefined ? sender.returnPath.hostname : requireHostname(hostname);
  if (name !== sender.name || returnPath !== sender.returnPath.hostname) {
    if (returnPath !== sender.returnPath.hostname) giveReturnPath(sender, returnPath, now);
    Object.assign(sender, { name, updatedAt: now });
    changed(sender.id);
  }
  return { sender_email: senderEmailView(sender) };
};

export const resendSenderEmailVerification: Handler<'resendSenderEmailVerification'> = (ask) => {
  const sender = requireStatus(ask, 'pending');
  askOwner(sender, ask.now);
  ask.changed(sender.id);
  return { sender_email: senderEmailView(sender) };
};

export const rotateSenderEmailDkim: Handler<'rotateSenderEmailDkim'> = (ask) => {
  const sender = requireStatus(ask, 'verified');
  rotateDkim(ask.world, sender, ask.now);
  return noted(ask, sender, true);
};

export const verifySenderEmailDkim: Handler<'verifySenderEmailDkim'> = (ask) => {
  const sender = requireStatus(ask, 'verified');
  return noted(ask, sender, lookUp(sender.dkim, ask.now));
};

export const verifySenderEmailReturnPath: Handler<'verifySenderEmailReturnPath'> = (ask) => {
  const sender = requireStatus(ask, 'verified');
  return noted(ask, sender, lookUp(sender.returnPath, ask.now));
};

export const refreshSenderEmail: Handler<'refreshSenderEmail'> = (ask) => {
  const sender = senderOf(ask.world, ask.params.sender_email_id);
  return noted(ask, sender, refresh(sender, ask.now));
};

type Asked = Pick<Ask<'refreshSenderEmail'>, 'world' | 'now' | 'params' | 'changed'>;

function noted({ now, changed }: Asked, sender: SenderEmail, isChange: boolean) {
  if (isChange) {
    sender.updatedAt = now;
    changed(sender.id);
  }
  return { sender_email: senderEmailView(sender) };
}

function requireStatus({ world, params }: Asked, status: SenderEmail['status']): SenderEmail {
  const sender = senderOf(world, params.sender_email_id);
  if (sender.status !== status) {
    throw cannot(`sender_email_not_${status}`, `The sender email is ${sender.status}, not ${status}.`);
  }
  return sender;
}

function requireHostname(given: unknown): string {
  if (typeof given !== 'string' || !/^[a-z\d-]+(\.[a-z\d-]+)+$/i.test(given)) {
    throw cannot('invalid_hostname', 'A return path is a hostname such as bounces.agency.example.');
  }
  return given;
}

/** @throws {Refusal} 422 unless the sender email exists and is verified. */
export function requireVerifiedSender(world: World, id: string): void {
  const sender = world.senderEmails.get(id);
  if (!sender) throw cannot('sender_email_not_found', `There is no sender email "${id}".`);
  if (sender.status !== 'verified') {
    throw cannot('sender_email_not_verified', `The sender email "${sender.email}" is not verified.`);
  }
}
