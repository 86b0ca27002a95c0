/** Every kind of channel with the function that sends through it; `src/settings/channels.ts` has their settings. */
import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import { isoMinute, isoTime } from '../clock.ts';
import { messageOf } from '../errors.ts';
import type { NewDelivery } from '../records/delivery-store.ts';
import { webhookKey } from '../settings/channels.ts';
import type { Receiver } from '../settings/receiver.ts';
import { isLoopback } from '../settings/settings.ts';
import { visibleJson } from '../text.ts';
import { type Kind, post, postJson, type Send, type Sent, type Tools } from './post.ts';
import { cut, severityOf, textOf, titleOf } from './wording.ts';

// A webhook of Discord. No one is mentioned, and nothing in the text is read as Markdown.

const DISCORD_MAX = 2_000;

const withoutMarkdown = (text: string): string => text.replace(/[\\*_~`|<>#[\]():-]/g, '\\$&');

export const sendToDiscord: Send<'discord'> = (delivery, { url }, tools) => {
  const link = delivery.link === undefined ? '' : `\n<${delivery.link}>`;
  // Cut before it is withoutMarkdown, so that no backslash is left over; at worst each character is withoutMarkdown.
  const text = withoutMarkdown(textOf(delivery));
  const max = DISCORD_MAX - link.length;
  const fitting = text.length <= max ? text : withoutMarkdown(cut(textOf(delivery), Math.floor(max / 2)));
  return postJson(url, { content: fitting + link, allowed_mentions: { parse: [] } }, tools);
};

// A topic of ntfy, as JSON to the address of the server.

/** A longer message would be delivered as a file. The server counts bytes, of which a character has up to three. */
const NTFY_MAX = 1_300;

const priorities = { info: 3, warning: 4, error: 5 } as const;

export const sendToNtfy: Send<'ntfy'> = (delivery, { url, topic, token }, tools) => {
  const body = {
    topic,
    title: titleOf(delivery),
    message: cut(textOf(delivery), NTFY_MAX),
    priority: priorities[severityOf(delivery)],
    ...(delivery.link === undefined ? {} : { click: delivery.link }),
  };
  return postJson(url, body, tools, token === undefined ? {} : { authorization: `Bearer ${token}` });
};

// The Events API v2 of PagerDuty. What ends a problem resolves its incident: a run that succeeded, and findings of
// which none are left. A repetition changes nothing there, since it has the same `dedup_key`.

const MAX_SUMMARY = 1_024;

/** One incident for the runs of a policy, one for its findings, and one each for an account's access, budget and address. */
function problemOf({ id, event, account, policy, message }: NewDelivery): { key: string; isOver: boolean } {
  // Whether its runs wait is a problem of the account, whichever run reports it.
  if (account !== undefined && /^(run\.blocked|system\.account-(blocked|back))$/.test(event))
    return { key: `caretaker/${account}`.slice(0, 255), isOver: event === 'system.account-back' };
  if (account !== undefined && /^system\.budget-/.test(event))
    return { key: `caretaker/${account}/budget`.slice(0, 255), isOver: event === 'system.budget-fits' };
  if (account !== undefined && /^system\.account-(moved|matches)$/.test(event))
    return { key: `caretaker/${account}/address`.slice(0, 255), isOver: event === 'system.account-matches' };
  if (policy === undefined) return { key: id, isOver: false };
  const { findings } = message as { findings?: { open?: number } };
  const isAboutFindings = event === 'policy.findings' || event === 'policy.recovered';
  return {
    key: ['caretaker', account, policy, isAboutFindings ? 'findings' : 'runs'].join('/').slice(0, 255),
    isOver:
      event === 'run.succeeded' || event === 'run.recovered' || (isAboutFindings && findings?.open === 0),
  };
}

export const sendToPagerDuty: Send<'pagerduty'> = (delivery, { url, routing_key }, tools) => {
  const { key, isOver } = problemOf(delivery);
  const payload = {
    summary: titleOf(delivery, MAX_SUMMARY),
    source: delivery.policy ?? 'caretaker',
    severity: severityOf(delivery),
    timestamp: isoTime(delivery.at),
    class: delivery.event,
    custom_details: { text: textOf(delivery), run: delivery.run ?? null, account: delivery.account ?? null },
  };
  const links = delivery.link === undefined ? {} : { links: [{ href: delivery.link, text: 'Open' }] };
  const head = { routing_key, dedup_key: key, client: 'Caretaker' };
  const body = isOver
    ? { ...head, event_action: 'resolve' }
    : { ...head, event_action: 'trigger', payload, ...links };
  return postJson(url, body, tools);
};

// An incoming webhook of Slack. The text is plain, so nothing in it is a mention or a link.

/** The longest text of a block. */
const SLACK_MAX = 3_000;

/** What Slack reads in a text that is shown in notifications. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export const sendToSlack: Send<'slack'> = (delivery, { url }, tools) => {
  const text = { type: 'plain_text', text: cut(textOf(delivery), SLACK_MAX), emoji: false };
  const open = { type: 'plain_text', text: 'Open', emoji: false };
  const blocks = [
    { type: 'section', text },
    ...(delivery.link === undefined
      ? []
      : [{ type: 'actions', elements: [{ type: 'button', text: open, url: delivery.link }] }]),
  ];
  return postJson(url, { text: escaped(titleOf(delivery)), blocks }, tools);
};

// A workflow of Microsoft Teams that posts an Adaptive Card. Its texts are not read as Markdown.

/** A card may have 28 KB in all. */
const TEAMS_MAX = 8_000;

const colors = { info: 'good', warning: 'warning', error: 'attention' } as const;

export const sendToTeams: Send<'teams'> = (delivery, { url }, tools) => {
  const lines = cut(textOf(delivery), TEAMS_MAX).split('\n');
  const body = lines.map((text, at) => ({
    type: 'RichTextBlock',
    inlines: [
      {
        type: 'TextRun',
        text: text === '' ? ' ' : text,
        ...(at === 0 ? { weight: 'bolder', color: colors[severityOf(delivery)] } : {}),
      },
    ],
  }));
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body,
    ...(delivery.link === undefined
      ? {}
      : { actions: [{ type: 'Action.OpenUrl', title: 'Open', url: delivery.link }] }),
  };
  const card = { contentType: 'application/vnd.microsoft.card.adaptive', content };
  return postJson(url, { type: 'message', attachments: [card] }, tools);
};

// A webhook: the message as JSON, with the headers of Standard Webhooks; signed when the configuration has a secret.

/** The id is the same in each attempt. The time and the signature are not, so that a receiver can reject old ones. */
export const sendToWebhook: Send<'webhook'> = ({ id, event, at, link, message }, { url, secret }, tools) => {
  const body = visibleJson({
    type: event,
    timestamp: isoTime(at),
    data: { ...message, ...(link && { link }) },
  });
  const timestamp = String(Math.floor(tools.now / 1000));
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'caretaker',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    ...(secret === undefined
      ? {}
      : { 'webhook-signature': signatureOf(secret, `${id}.${timestamp}.${body}`) }),
  };
  return post({ url, headers, body }, tools);
};

const signatureOf = (secret: string, signed: string): string =>
  `v1,${createHmac('sha256', webhookKey(secret)).update(signed).digest('base64')}`;

/** What is used of nodemailer, which is loaded with the first email: most processes send none. */
interface Nodemailer {
  createTransport(options: object): {
    sendMail(mail: object): Promise<{ rejectedErrors?: { responseCode?: number }[] }>;
    close(): void;
  };
}
const require = createRequire(import.meta.url);
const nodemailer = () => require('nodemailer') as Nodemailer;

const CONNECT_TIMEOUT_MS = 5_000;
const RESPONSE_TIMEOUT_MS = 10_000;
/** The whole attempt: shorter than a claim. */
const ATTEMPT_TIMEOUT_MS = 30_000;

const escapedHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const sendEmail: Send<'email'> = async (delivery, { smtp, from, to }) => {
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
    const { rejectedErrors: [refused, ...others] = [] } = await transport.sendMail({
      from,
      to,
      subject: titleOf(delivery),
      messageId: `<${delivery.id}@caretaker.invalid>`,
      date: new Date(delivery.at),
      headers: { 'Auto-Submitted': 'auto-generated' },
      text: [...lines, ...(link === undefined ? [] : ['', link])].join('\n'),
      html: [
        ...lines.map((line) => `<p>${escapedHtml(line)}</p>`),
        ...(link === undefined ? [] : [`<p><a href="${escapedHtml(link)}">Open</a></p>`]),
      ].join('\n'),
      signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
    });
    if (!refused) return { is: 'delivered' };
    // Not sent again: the others would get it twice.
    const count = `${others.length + 1} of ${to.length} recipients`;
    return { is: 'delivered', why: `the mail server refused ${count} (${refused.responseCode})` };
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

const channels: { [K in Kind]: Send<K> } = {
  webhook: sendToWebhook,
  slack: sendToSlack,
  teams: sendToTeams,
  discord: sendToDiscord,
  pagerduty: sendToPagerDuty,
  ntfy: sendToNtfy,
  email: sendEmail,
};

/** A message for people says when it happened, if it arrives so long after that. */
const LATE_MS = 600_000;

/** In its second line, so that it is not cut. A summary has the times of its messages. */
function withTime(delivery: NewDelivery, now: number): NewDelivery {
  const { at, event, message } = delivery;
  if (now - at < LATE_MS || event === 'summary') return delivery;
  const [first, ...rest] = message.text.split('\n');
  return {
    ...delivery,
    message: { ...message, text: [first, `This was at ${isoMinute(at)}.`, ...rest].join('\n') },
  };
}

/** Attempts a delivery once, through the receiver's channel. */
export async function send(delivery: NewDelivery, receiver: Receiver, tools: Tools): Promise<Sent> {
  const kind = (Object.keys(channels) as Kind[]).find((name) => name in receiver);
  if (kind === undefined) return { is: 'rejected', why: 'it is a heartbeat, which gets no messages' };
  // The settings are of this kind, which TypeScript cannot see through the table.
  const told = kind === 'webhook' ? delivery : withTime(delivery, tools.now);
  return channels[kind](told, receiver[kind] as never, tools);
}
