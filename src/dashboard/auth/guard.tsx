/** Who may ask for what. */
import { getConnInfo } from '@hono/node-server/conninfo';
import { createMiddleware } from 'hono/factory';
import { asPage } from '../components/layout.tsx';
import type { DashboardContext, Env, Exchange } from '../http/context.ts';
import { isSignedIn } from './cookie.ts';
import { localPath } from './origin.ts';

/** `open`: everybody. `person`: who is signed in. `program`: also who sends the password with the request. */
export type Access = 'open' | 'person' | 'program';

/** Lets through those who may; the others are asked to sign in, each in the way it understands. */
export const guard = (access: Access, context: DashboardContext) =>
  createMiddleware<Env>(async (c, next) => {
    if (access === 'open' || isSignedIn(c, context)) return next();
    if (access === 'program') return admitProgram(c, context) ?? next();
    return askPerson(c);
  });

/** The address of the caller as the system tells it; what headers claim is not believed. */
export const addressOf = (c: Exchange): string => getConnInfo(c).remote.address ?? '';

/** The answer to one that has failed too often; nothing when it may try. */
export function refuseGuessing(c: Exchange, { loginThrottle }: DashboardContext): Response | undefined {
  const waitMs = loginThrottle.waitMs(addressOf(c));
  if (waitMs === 0) return undefined;
  c.header('Retry-After', String(Math.ceil(waitMs / 1000)));
  return c.text('Too many failed attempts to sign in. Wait a minute.\n', 429);
}

/** Counts a failed attempt; gives the answer to it when too many failed lately, wherever they came from. */
export const countFailed = (c: Exchange, context: DashboardContext): Response | undefined =>
  context.loginThrottle.count(addressOf(c)) ? refuseGuessing(c, context) : undefined;

/** Nothing when the request carries the password. */
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

/** The password in an `Authorization` header, as a bearer or behind any user's name. */
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
 * Has the browser ask once more, from a page of ours: a link followed from elsewhere (a chat, a mail) comes
 * without the session's cookie, which is meant for our own pages only.
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
        <a href={to}>Go on</a>
      </body>
    </html>,
  );
