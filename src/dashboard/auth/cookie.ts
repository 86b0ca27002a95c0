import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Identity } from '../../access/access.ts';
import type { Principal } from '../../access/principal.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { principalOf } from './caller.ts';
import { addressOf, browserIn, cameByHttps, isKnownHttps } from './client-address.ts';
import type { FoundSession } from './sessions.ts';

/** Cookies are shared by all ports of a host, and two dashboards on one machine must not sign each other out. */
const plainName = ({ port }: DashboardContext): string => `caretaker_session_${port}`;

/**
 * Under TLS. No page without TLS and no other host can set a cookie with `__Host-`, which demands the path "/". Under the
 * path of `public_url` it is `__Secure-`: the cookie has that path, so that nothing else on the host receives it.
 */
const secureName = (context: DashboardContext): string =>
  `${context.basePath === '' ? '__Host-' : '__Secure-'}${plainName(context)}`;

/** The name without TLS counts only where it is not known that there is TLS: anyone could have set that cookie. */
export const sentIn = (c: Exchange, context: DashboardContext): string | undefined =>
  getCookie(c, secureName(context)) ??
  (isKnownHttps(c, context) ? undefined : getCookie(c, plainName(context)));

/**
 * The session that the caller sent, also one that has ended. `isUse`: a person asks for something.
 *
 * @throws {SessionsAwayError}
 */
export const findSession = (
  c: Exchange,
  context: DashboardContext,
  isUse: boolean,
): Promise<FoundSession | undefined> => context.sessions.find(sentIn(c, context), isUse);

/** Whose session this is, by the current settings: a session ends when its user is removed from them. */
export const principalOfSession = (
  session: FoundSession | undefined,
  { authenticator }: DashboardContext,
): Principal | undefined =>
  session && !session.hasEnded ? authenticator.principal(session.identity) : undefined;

/**
 * Begins a session in place of that of the browser, and sets its cookie.
 *
 * @throws {SessionsAwayError}
 */
export async function signIn(
  c: Exchange,
  context: DashboardContext,
  identity: Identity,
  user: Principal,
): Promise<void> {
  const { sessions } = context;
  const from = { address: addressOf(c), browser: browserIn(c.req.header('user-agent')) };
  const secure = cameByHttps(c, context);
  const id = await sessions.begin({ identity, user: user.name, ...from });
  const before = c.get('session');
  if (before) await sessions.end(before.user, [before.hash]);
  setCookie(c, secure ? secureName(context) : plainName(context), id, {
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
    secure,
    maxAge: Math.min(MAX_COOKIE_S, Math.floor(sessions.keptMs / 1000)),
  });
}

/** Browsers keep no cookie for longer than 400 days, and hono sets none. */
const MAX_COOKIE_S = 34_560_000;

/** The caller's session, and the other sessions of the same user, the one that was used last first. */
export async function ownSessions(c: Exchange, context: DashboardContext) {
  const own = c.get('session');
  const { name } = principalOf(c);
  const all = await context.sessions.of(name);
  // A name may have been of someone else before.
  const isSame = (one: FoundSession) => principalOfSession(one, context)?.name === name;
  return { own, others: all.filter((one) => one.hash !== own?.hash && isSame(one)) };
}

/** Ends the caller's session and removes its cookie. */
export async function signOut(c: Exchange, context: DashboardContext): Promise<void> {
  const session = c.get('session');
  if (session) await context.sessions.end(session.user, [session.hash]);
  deleteCookie(c, plainName(context), { path: '/' });
  deleteCookie(c, secureName(context), { path: '/', secure: true });
}
