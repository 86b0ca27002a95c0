/** Email by SMTP, as plain text and as HTML. Its Message-ID is the same in every attempt. */
import { createRequire } from 'node:module';
import { messageOf } from '../errors.ts';
import { isLoopback } from '../settings/settings.ts';
import type { Send, Sent } from './post.ts';
import { textOf, titleOf } from './wording.ts';

/** What is used of nodemailer, which is loaded with the first email: most processes send none. */
interface Nodemailer {
  createTransport(options: object): {
    sendMail(mail: object): Promise<unknown>;
    close(): void;
  };
}
const require = createRequire(import.meta.url);
const nodemailer = () => require('nodemailer') as Nodemailer;

const CONNECT_TIMEOUT_MS = 5_000;
const RESPONSE_TIMEOUT_MS = 10_000;
/** The whole attempt: shorter than a claim. */
const ATTEMPT_TIMEOUT_MS = 30_000;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

export const sendEmail: Send<'email'> = async (delivery, { smtp, from, to }) => {
  const transport = nodemailer().createTransport({
    url: smtp,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: RESPONSE_TIMEOUT_MS,
    socketTimeout: RESPONSE_TIMEOUT_MS,
    requireTLS: needsTls(smtp),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const lines = textOf(delivery).split('\n');
  const { link } = delivery;
  try {
    await transport.sendMail({
      from,
      to,
      subject: titleOf(delivery),
      messageId: `<${delivery.id}@caretaker.invalid>`,
      date: new Date(delivery.at),
      headers: { 'Auto-Submitted': 'auto-generated' },
      text: [...lines, ...(link === undefined ? [] : ['', link])].join('\n'),
      html: [
        ...lines.map((line) => `<p>${escaped(line)}</p>`),
        ...(link === undefined ? [] : [`<p><a href="${escaped(link)}">Open</a></p>`]),
      ].join('\n'),
      signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
    });
    return { is: 'delivered' };
  } catch (error) {
    return sentOf(error);
  } finally {
    transport.close();
  }
};

/** A password is not sent in the clear to another machine, also if the server offers no encryption. */
function needsTls(smtp: string): boolean {
  const { protocol, username, hostname } = new URL(smtp);
  return protocol === 'smtp:' && username !== '' && !isLoopback(hostname.replace(/^\[|\]$/g, ''));
}

/** A server that answers with 5xx rejects the message for good, except that a login may be corrected. */
function sentOf(error: unknown): Sent {
  const { responseCode, code } = error as { responseCode?: number; code?: string };
  if (responseCode !== undefined) {
    const why = `the mail server answered with ${responseCode}`;
    return responseCode >= 500 && code !== 'EAUTH' ? { is: 'rejected', why } : { is: 'failed', why };
  }
  return { is: 'failed', why: reasons[code ?? ''] ?? code ?? messageOf(error) };
}

/** Without the address of the server. */
const reasons: Record<string, string> = {
  ESOCKET: 'the mail server cannot be reached',
  EDNS: 'the host name of the mail server is not known',
  ETLS: 'no encrypted connection to the mail server',
  ETIMEDOUT: 'the mail server did not answer in time',
  EABORT: 'the mail server did not answer in time',
  ECONNECTION: 'the connection to the mail server was cut',
};
