/**
 * The kinds of notification channels in `config/caretaker.yaml`, and the settings of each. How each channel
 * sends is in `src/notify/channels/`.
 */
import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import { keepSecret } from '../secrets.ts';
import { duration } from '../yaml/duration.ts';

/** A string that is never printed. The addresses of chat services are credentials too. */
const secret = (text: z.ZodType<string>) =>
  text.transform((value) => {
    keepSecret(value.trim());
    return value.trim();
  });

const httpForm = { pattern: '^\\s*[hH][tT][tT][pP][sS]?:' };
const httpUrl = () =>
  z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }).meta(httpForm);
/** An address that no one else may know. */
const secretUrl = () => secret(httpUrl());

/** 24 to 64 bytes as base64, with the prefix of Standard Webhooks. */
const secretForm = /^\s*whsec_[A-Za-z0-9+/]{32,86}={0,2}\s*$/;

/** The key of a webhook's secret. */
export const webhookKey = (secret: string): Buffer => Buffer.from(secret.slice('whsec_'.length), 'base64');

const Webhook = z
  .strictObject({
    url: secretUrl().describe('The JSON message is sent to this address by POST.'),
    secret: z
      .optional(secret(z.string().regex(secretForm, 'must be "whsec_" and 24 to 64 bytes as base64')))
      .describe(
        'Secret that signs each message, as Standard Webhooks writes it: whsec_ and 24 to 64 bytes as base64. `echo "whsec_$(openssl rand -base64 32)"` makes one. Default: not signed.',
      ),
  })
  .describe('An HTTP address that receives notifications as JSON. Default none.');

const Slack = z
  .strictObject({ url: secretUrl().describe('Address of an incoming webhook of Slack.') })
  .describe('A channel of Slack. Default none.');

const Teams = z
  .strictObject({
    url: secretUrl().describe('Address of a workflow of Microsoft Teams that posts a card to a channel.'),
  })
  .describe('A channel of Microsoft Teams. Default none.');

const Discord = z
  .strictObject({ url: secretUrl().describe('Address of a webhook of Discord.') })
  .describe('A channel of Discord. Default none.');

const PagerDuty = z
  .strictObject({
    routing_key: secret(z.string().min(1)).describe('Integration key of a service (Events API v2).'),
    url: httpUrl()
      .prefault('https://events.pagerduty.com/v2/enqueue')
      .describe('Address of the Events API. Default https://events.pagerduty.com/v2/enqueue.'),
  })
  .describe(
    'A service of PagerDuty: problems open an incident for each policy, and its recovery resolves it. Default none.',
  );

const Ntfy = z
  .strictObject({
    topic: secret(
      z.string().regex(/^[-_A-Za-z0-9]{1,64}$/, 'must have 1 to 64 letters, digits, - and _'),
    ).describe('The topic. On a public server, anyone who knows it can read it.'),
    url: httpUrl().prefault('https://ntfy.sh').describe('Address of the server. Default https://ntfy.sh.'),
    token: z.optional(secret(z.string().min(1))).describe('Access token. Default none.'),
  })
  .describe('A topic of ntfy. Default none.');

const smtpForm = /^\s*[sS][mM][tT][pP][sS]?:\/\/[^\s/]+\S*\s*$/;
const address = z.string().regex(/^[^\r\n]*[^\s@<]+@[^\s@>]+>?\s*$/, 'must be an email address');

const Email = z
  .strictObject({
    smtp: secret(
      z
        .string()
        .regex(smtpForm, 'must be an smtp:// or smtps:// address such as smtp://user:password@host:587'),
    ).describe(
      'Address of the mail server: smtp://user:password@host:587, or smtps:// for TLS from the start.',
    ),
    from: address.describe('Sender: an address, or "Caretaker <caretaker@example.com>".'),
    to: z.array(address).min(1).describe('Recipients.'),
  })
  .describe('Email by SMTP. Default none.');

const Heartbeat = z
  .strictObject({
    url: secretUrl().describe('Address that is requested by GET.'),
    every: duration(10_000).prefault('1m').describe('How often. Default 1m.'),
  })
  .describe(
    'An address that is requested while a worker runs and reaches Redis, so that a monitor notices when none does. It gets no messages. Default none.',
  );

/** The kinds of channels, by the key of their settings. */
export const kinds = {
  webhook: z.exactOptional(Webhook),
  slack: z.exactOptional(Slack),
  teams: z.exactOptional(Teams),
  discord: z.exactOptional(Discord),
  pagerduty: z.exactOptional(PagerDuty),
  ntfy: z.exactOptional(Ntfy),
  email: z.exactOptional(Email),
  heartbeat: z.exactOptional(Heartbeat),
};
export type Channels = z.output<z.ZodObject<typeof kinds>>;

/** This machine, addresses of no host, and link-local ones, at which clouds have the credentials of a machine. */
const near = new BlockList();
for (const [network, bits] of [
  ['127.0.0.0', 8],
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
] as const)
  near.addSubnet(network, bits);
near.addSubnet('fe80::', 10, 'ipv6');
near.addSubnet('::', 127, 'ipv6');

/** Whether a host, without brackets, is such an address, in whatever form, or a name of this machine. */
export function isNear(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return /^(?:.*\.)?localhost\.?$/i.test(host);
  return near.check(host.replace(/%.*$/, ''), version === 4 ? 'ipv4' : 'ipv6');
}

/** The host of a receiver that has a URL, without brackets: of all but email. */
export function hostOfReceiver(receiver: object): string | undefined {
  const [url = ''] = Object.values(receiver).flatMap((one: unknown) =>
    typeof one === 'object' && one !== null && 'url' in one ? [String(one.url)] : [],
  );
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : undefined;
}
