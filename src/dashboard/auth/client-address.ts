/** Where a request comes from, and from which browser. Headers of proxies count only when the settings name the proxy. */
import { BlockList, isIP } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { DashboardContext, Exchange } from '../http/context.ts';

/** Each list is compiled once. */
const compiled = new WeakMap<readonly string[], BlockList>();

/**
 * The address of the caller. A trusted proxy has appended it to `X-Forwarded-For`: the list is read from the
 * right, over further trusted proxies, since the caller itself may have sent the beginning.
 */
export function findAddress(c: Exchange, { access }: Pick<DashboardContext, 'access'>): string {
  const trusted = trustedIn(access().trustedProxies);
  let address = connectedTo(c);
  const hops = (c.req.header('x-forwarded-for') ?? '').split(',').map((hop) => plain(hop.trim()));
  for (const hop of hops.toReversed()) {
    if (!isTrusted(address, trusted) || isIP(hop) === 0) return address;
    address = hop;
  }
  return address;
}

/** The address of the caller, as `identify` found it. */
export const addressOf = (c: Exchange): string => c.get('address') ?? '';

type Addressed = Pick<DashboardContext, 'access' | 'publicUrl'>;

/**
 * Whether the caller uses https. The dashboard serves plain HTTP; that a proxy adds TLS, it or the settings say. In
 * requests that change something, so does the browser, in a header that no one else can send for it.
 */
export const cameByHttps = (c: Exchange, context: Addressed): boolean =>
  c.req.header('origin')?.startsWith('https:') === true || isKnownHttps(c, context);

/** The same by what each request has, whatever it asks for. */
export function isKnownHttps(c: Exchange, { access, publicUrl }: Addressed): boolean {
  // By another name or port than that of the settings, the dashboard may be reached without TLS.
  const url = publicUrl === undefined ? undefined : new URL(publicUrl);
  if (url?.protocol === 'https:' && url.host === c.req.header('host')) return true;
  const isProxy = isTrusted(connectedTo(c), trustedIn(access().trustedProxies));
  // Each proxy appends its own; the last one is of the proxy that is connected.
  return isProxy && c.req.header('x-forwarded-proto')?.split(',').at(-1)?.trim() === 'https';
}

/** The address at which the caller sees the dashboard. */
export const originOf = (c: Exchange, context: DashboardContext): string =>
  context.publicUrl ?? `${cameByHttps(c, context) ? 'https' : 'http'}://${c.req.header('host') ?? ''}`;

const connectedTo = (c: Exchange): string => plain(getConnInfo(c).remote.address ?? '');

/** An IPv4 address may be written as IPv6, and an address with a port. */
const plain = (address: string): string =>
  address
    .replace(/^::ffff:(?=\d+\.)/i, '')
    .replace(/^\[([^\]]+)\](?::\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1');

const isTrusted = (address: string, trusted: BlockList): boolean => {
  const version = isIP(address);
  return version !== 0 && trusted.check(address, version === 4 ? 'ipv4' : 'ipv6');
};

function trustedIn(proxies: readonly string[]): BlockList {
  const known = compiled.get(proxies);
  if (known) return known;
  const list = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  compiled.set(proxies, list);
  return list;
}

/** Several browsers name another one too: the first that is found counts. */
const browsers = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:HeadlessChrome|Chrome|CriOS)\//],
  ['Safari', /\bSafari\//],
] as const;
const systems = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
] as const;

const MAX_LENGTH = 40;

/**
 * Which browser sends a request, in a few words for people: `Firefox on Linux`. A program that is no known browser is
 * shown by the beginning of what it sends: `curl/8.5.0`.
 */
export function browserIn(userAgent: string | undefined): string {
  const sent = userAgent ?? '';
  const [browser] = browsers.find(([, form]) => form.test(sent)) ?? [];
  const [system] = systems.find(([, form]) => form.test(sent)) ?? [];
  const first = sent.split(' ')[0]?.slice(0, MAX_LENGTH) || 'unknown';
  return system === undefined ? (browser ?? first) : `${browser ?? first} on ${system}`;
}
