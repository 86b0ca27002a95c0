import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Exchange, Parts } from '../http/context.ts';
import { SESSION_MS } from './sessions.ts';

/** Cookies do not tell ports apart, and two dashboards of one machine must not sign each other out. */
const nameFor = ({ port }: Parts): string => `caretaker_session_${port}`;

/** The id of the caller's session, if it sent one. */
export const sessionIn = (c: Exchange, parts: Parts): string | undefined => getCookie(c, nameFor(parts));

/** Whether the caller is signed in by its session. */
export const isSignedIn = (c: Exchange, parts: Parts): boolean => parts.sessions.has(sessionIn(c, parts));

/** Begins a session, in the caller's browser too. */
export function signIn(c: Exchange, parts: Parts): void {
  setCookie(c, nameFor(parts), parts.sessions.begin(), {
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
    secure: cameByHttps(c),
    maxAge: SESSION_MS / 1000,
  });
}

/** Ends the caller's session. */
export function signOut(c: Exchange, parts: Parts): void {
  parts.sessions.end(sessionIn(c, parts));
  deleteCookie(c, nameFor(parts), { path: '/' });
}

/** We speak plain HTTP; that a proxy put TLS in front of us is told by it, or by the page that asks. */
const cameByHttps = (c: Exchange): boolean =>
  c.req.header('x-forwarded-proto')?.startsWith('https') === true ||
  c.req.header('origin')?.startsWith('https:') === true;
