/** Sender emails and their verification (spec 4.5). */

import type { SenderEmail } from '../model/account.ts';
import type { World } from '../model/world.ts';
import { cannot, malformed, notFound } from '../refusal.ts';
import { senderEmailView } from '../views/sender-email.ts';
import {
  addSenderEmail,
  askOwner,
  giveReturnPath,
  lookUp,
  refresh,
  rotateDkim,
} from '../world/sender-emails.ts';
import { type Ask, type Handler, lists } from './handler.ts';
import { requireEmail } from './texts.ts';

function senderOf(world: World, id: string): SenderEmail {
  const sender = world.senderEmails.get(id);
  if (!sender) throw notFound('sender email', id);
  return sender;
}

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
