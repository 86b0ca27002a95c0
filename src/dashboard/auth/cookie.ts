import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Identity } from '../../access/access.ts';
import type { Principal } from '../../access/principal.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { cameByHttps } from './client-address.ts';
import { SESSION_MS } from './sessions.ts';

/** Cookies are shared by all ports of a host, and two dashboards on one machine must not sign each other out. */
const nameFor = ({ port }: DashboardContext): string => `caretaker_session_${port}`;

/** The id of the caller's session, if it sent one. */
export const sessionIn = (c: Exchange, context: DashboardContext): string | undefined =>
  getCookie(c, nameFor(context));

/** Who is signed in with the session that the caller sent. */
export const sessionPrincipal = (c: Exchange, context: DashboardContext): Principal | undefined =>
  principalOfSession(sessionIn(c, context), context);

/** Whose session this is, by the current settings: a session ends when its user is removed from them. */
export function principalOfSession(
  id: string | undefined,
  { sessions, authenticator }: DashboardContext,
): Principal | undefined {
  const identity = sessions.identity(id);
  return identity && authenticator.principal(identity);
}

/** Begins a session and sets its cookie. */
export function signIn(c: Exchange, context: DashboardContext, identity: Identity): void {
  setCookie(c, nameFor(context), context.sessions.begin(identity), {
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
    secure: cameByHttps(c, context),
    maxAge: SESSION_MS / 1000,
  });
}

/** Ends the caller's session and removes its cookie. */
export function signOut(c: Exchange, context: DashboardContext): void {
  context.sessions.end(sessionIn(c, context));
  deleteCookie(c, nameFor(context), { path: '/' });
}
