/** Access control: who may request which address. */
import { getConnInfo } from '@hono/node-server/conninfo';
import { createMiddleware } from 'hono/factory';
import { asPage } from '../components/layout.tsx';
import type { DashboardContext, Env, Exchange } from '../http/context.ts';
import { isSignedIn } from './cookie.ts';
import { localPath } from './origin.ts';

/** `open`: everybody. `person`: who is signed in. `program`: also requests that carry the password. */
export type Access = 'open' | 'person' | 'program';

/** Lets through requests with access. Asks others to sign in: browsers by a page, programs by a 401. */
export const guard = (access: Access, context: DashboardContext) =>
  createMiddleware<Env>(async (c, next) => {
    if (access === 'open' || isSignedIn(c, context)) return next();
    if (access === 'program') return admitProgram(c, context) ?? next();
    return askPerson(c);
  });

/** The address of the caller from the connection; headers could be forged. */
export const addressOf = (c: Exchange): string => getConnInfo(c).remote.address ?? '';

/** The 429 for an address with too many failed attempts; nothing when it may try. */
export function refuseGuessing(c: Exchange, { loginThrottle }: DashboardContext): Response | undefined {
  const waitMs = loginThrottle.waitMs(addressOf(c));
  if (waitMs === 0) return undefined;
  c.header('Retry-After', String(Math.ceil(waitMs / 1000)));
  return c.text('Too many failed attempts to sign in. Wait a minute.\n', 429);
}

/** Counts a failed attempt; gives a 429 when too many failed recently, from any address. */
export const countFailed = (c: Exchange, context: DashboardContext): Response | undefined =>
  context.loginThrottle.count(addressOf(c)) ? refuseGuessing(c, context) : undefined;

/** Gives nothing when the request carries the password, else a 401 or 429. */
function admitProgram(c: Exchange, context: DashboardContext): Response | undefined {
  const sent = passwordIn(c.req.header('authorization') ?? '');
  if (sent !== undefined) {
    const refused = refuseGuessing(c, context);
    if (refused) return refused;
    if (context.authenticator.isPassword(sent)) return undefined;
    const slowedDown = countFailed(c, context);
    if (slowedDown) return slowedDown;
  }
  if (context.authenticator.hasPassword)
    c.header('WWW-Authenticate', 'Basic realm="Caretaker", charset="UTF-8"');
  const message = context.authenticator.hasPassword
    ? 'Send the password of the dashboard: as a bearer token, or by HTTP Basic with any name.'
    : 'Programs need the password of the dashboard, and none is set (dashboard.password).';
  return c.json({ error: { code: 'sign_in', message } }, 401);
}

/** The password in an `Authorization` header: a bearer token, or HTTP Basic with any user name. */
function passwordIn(authorization: string): string | undefined {
  const [, scheme = '', value = ''] = /^(\w+) +(.+)$/.exec(authorization) ?? [];
  // Node reads headers as Latin-1; what programs send is UTF-8.
  if (scheme.toLowerCase() === 'bearer') return Buffer.from(value, 'latin1').toString('utf8');
  if (scheme.toLowerCase() !== 'basic') return undefined;
  const pair = Buffer.from(value, 'base64').toString('utf8');
  return pair.slice(pair.indexOf(':') + 1);
}

function askPerson(c: Exchange): Response | Promise<Response> {
  const wantsPage = c.req.method === 'GET' && c.req.header('accept')?.includes('text/html') === true;
  if (!wantsPage) return c.json({ error: { code: 'sign_in', message: 'Sign in first.' } }, 401);
  const to = localPath(c.req.url);
  if (c.req.header('sec-fetch-site') === 'cross-site') return reloadSameSite(c, to);
  return c.redirect(`/sign-in?to=${encodeURIComponent(to)}`);
}

/**
 * A page that requests the same address again. A link from another site (a chat, a mail) is opened without the
 * session's cookie (`SameSite=Strict`); a request from our own page has it.
 */
export const reloadSameSite = (c: Exchange, to: string): Response | Promise<Response> =>
  asPage(
    c,
    <html lang="en">
      <head>
        <meta http-equiv="refresh" content={`0;url=${to}`} />
        <title>Caretaker</title>
      </head>
      <body>
        <a href={to}>Continue</a>
      </body>
    </html>,
  );
