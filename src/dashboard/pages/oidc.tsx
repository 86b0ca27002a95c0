/** Signing in at an OpenID Connect issuer: the way there and back. */
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { addressOf, cameByHttps, originOf } from '../auth/client-address.ts';
import { signIn } from '../auth/cookie.ts';
import { reloadSameSite } from '../auth/guard.tsx';
import { IssuerError, OidcRefusedError, PENDING_MS } from '../auth/oidc.ts';
import { localPath } from '../auth/origin.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { showSignInProblem } from './sign-in.tsx';

/** The address that the issuer sends browsers back to. */
export const CALLBACK_PATH = '/sign-in/oidc/callback';

const cookieName = ({ port }: DashboardContext): string => `caretaker_oidc_${port}`;

/** Sends the browser to the issuer. */
export async function beginOidc(c: Exchange, context: DashboardContext): Promise<Response> {
  const to = localPath(c.req.query('to') ?? '/');
  try {
    const { url, state } = await context.oidc.begin(`${originOf(c, context)}${CALLBACK_PATH}`, to);
    // Not `Strict`: the browser has to send it when it comes from the issuer.
    setCookie(c, cookieName(context), state, {
      path: '/sign-in/oidc',
      httpOnly: true,
      sameSite: 'Lax',
      secure: cameByHttps(c, context),
      maxAge: PENDING_MS / 1000,
    });
    return c.redirect(url.href);
  } catch (error) {
    return showFailure(c, context, error);
  }
}

/** Begins the session of who comes back from the issuer. */
export async function finishOidc(c: Exchange, context: DashboardContext): Promise<Response> {
  const { authenticator, oidc, onSignIn } = context;
  const cookie = getCookie(c, cookieName(context));
  deleteCookie(c, cookieName(context), { path: '/sign-in/oidc' });
  try {
    const { to, ...from } = await oidc.finish(new URL(c.req.url).search, cookie);
    const identity = { by: 'oidc', ...from } as const;
    const principal = authenticator.principal(identity);
    if (!principal) {
      const name = `oidc:${from.claims.sub}`;
      onSignIn({ name, address: addressOf(c), ok: false, why: 'no role' });
      return showSignInProblem(
        c,
        context,
        403,
        `${from.issuer} knows you as ${from.claims.sub}, but you have no role here. An administrator can give you one (access.users, or access.oidc.claims).`,
      );
    }
    signIn(c, context, identity);
    onSignIn({ name: principal.name, principal, address: addressOf(c), ok: true });
    // The browser comes from another site: after a redirect it would not send the new cookie.
    return reloadSameSite(c, to);
  } catch (error) {
    onSignIn({ address: addressOf(c), ok: false, why: 'the issuer has not confirmed who it is' });
    return showFailure(c, context, error);
  }
}

function showFailure(c: Exchange, context: DashboardContext, error: unknown): Response | Promise<Response> {
  if (!(error instanceof IssuerError || error instanceof OidcRefusedError)) throw error;
  context.log.warn({ err: error }, 'a sign-in by OpenID Connect failed');
  return showSignInProblem(c, context, error instanceof IssuerError ? 502 : 401, error.message);
}
