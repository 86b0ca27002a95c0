import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { SESSION_MS } from './sessions.ts';

/** Cookies are shared by all ports of a host, and two dashboards on one machine must not sign each other out. */
const nameFor = ({ port }: DashboardContext): string => `caretaker_session_${port}`;

/** The id of the caller's session, if it sent one. */
export const sessionIn = (c: Exchange, context: DashboardContext): string | undefined =>
  getCookie(c, nameFor(context));

/** Whether the caller has a session. */
export const isSignedIn = (c: Exchange, context: DashboardContext): boolean =>
  context.sessions.has(sessionIn(c, context));

/** Begins a session and sets its cookie. */
export function signIn(c: Exchange, context: DashboardContext): void {
  setCookie(c, nameFor(context), context.sessions.begin(), {
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
    secure: cameByHttps(c),
    maxAge: SESSION_MS / 1000,
  });
}

/** Ends the caller's session and removes its cookie. */
export function signOut(c: Exchange, context: DashboardContext): void {
  context.sessions.end(sessionIn(c, context));
  deleteCookie(c, nameFor(context), { path: '/' });
}

/** The dashboard serves plain HTTP. That a proxy adds TLS is known from its header, or from the page's origin. */
const cameByHttps = (c: Exchange): boolean =>
  c.req.header('x-forwarded-proto')?.startsWith('https') === true ||
  c.req.header('origin')?.startsWith('https:') === true;
