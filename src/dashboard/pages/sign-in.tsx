/** Signing in and out: the only pages that need no session. */

import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { hashOfKey, unseal } from '../../access/credentials.ts';
import type { Records } from '../../records/records.ts';
import { beginAttempt } from '../auth/attempt.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { actorOf } from '../auth/caller.ts';
import { addressOf, cameByHttps, originOf } from '../auth/client-address.ts';
import { sentIn, signIn, signOut } from '../auth/cookie.ts';
import { reloadSameSite } from '../auth/guard.tsx';
import { IssuerError, OidcRefusedError, PENDING_MS } from '../auth/oidc.ts';
import { localPath } from '../auth/origin.ts';
import { SessionsAwayError } from '../auth/sessions.ts';
import { isTyped, pathAfter } from '../auth/typed-form.ts';
import { asPage, Layout } from '../components/layout.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';

/** The sign-in page. With the `?key=` of a one-time link it signs in. */
export function showSignIn(c: Exchange, context: DashboardContext): Response | Promise<Response> {
  const to = localPath(c.req.query('to') ?? '/');
  const principal = c.get('principal');
  if (principal) return c.redirect(pathAfter(to, principal));
  const key = c.req.query('key');
  if (key !== undefined) return tryLink(c, context, key);
  const problem = isTyped(to) ? { problem: ENDED } : {};
  return asPage(c, <SignInPage context={context} to={to} {...problem} />);
}

const ENDED = 'Your session had ended, so nothing was done. What you typed is there again after the sign-in.';

async function tryLink(c: Exchange, context: DashboardContext, key: string): Promise<Response> {
  const attempt = beginAttempt(c, context);
  if ('waitMs' in attempt) return askToWait(c, context, attempt);
  const identity = { by: 'dashboard' } as const;
  const { authenticator, control } = context;
  const isRight = authenticator.useKey(key) || (await takesOffered(authenticator, control.records, key));
  const principal = isRight ? authenticator.principal(identity) : undefined;
  if (principal) {
    await attempt.succeed(identity, principal);
    // When the link was on a page of another site, the browser would not send the new cookie after a redirect.
    return c.req.header('sec-fetch-site') === 'cross-site' ? reloadSameSite(c, '/') : c.redirect('/');
  }
  attempt.fail('a link that was used or replaced');
  const problem = 'This link was used already, has expired, or a newer link replaced it.';
  return asPage(c, <SignInPage context={context} to="/" problem={problem} />, 401);
}

/** Whether a command with access to Redis (`caretaker dashboard`) offered this key. */
const takesOffered = async (
  { hasLink }: Authenticator,
  { presence }: Records,
  key: string,
): Promise<boolean> => hasLink && (await presence.takeSignIn(hashOfKey(key)));

/** Signs in with the name and the password of the form. */
export async function trySignIn(c: Exchange, context: DashboardContext): Promise<Response> {
  const { authenticator } = context;
  const form = await c.req.parseBody();
  const text = (field: string) => (typeof form[field] === 'string' ? form[field] : '');
  const name = text('name').trim();
  const to = localPath(text('to') || '/');
  const attempt = beginAttempt(c, context, name);
  if ('waitMs' in attempt) return askToWait(c, context, { ...attempt, to, name });
  const again = (problem: string, status: 401 | 503) =>
    asPage(c, <SignInPage context={context} to={to} name={name} problem={problem} />, status);
  const identity = await authenticator.identify(name, text('password'));
  if (identity === 'busy') {
    attempt.withdraw();
    c.header('Retry-After', '2');
    return again('Too many people sign in at the moment. Try again in a few seconds.', 503);
  }
  const principal = identity && authenticator.principal(identity);
  if (identity && principal) {
    try {
      await attempt.succeed(identity, principal);
    } catch (error) {
      if (error instanceof SessionsAwayError) return again(error.message, 503);
      throw error;
    }
    return c.redirect(pathAfter(to, principal), 303);
  }
  attempt.fail(authenticator.hasNames ? 'wrong name or password' : 'wrong password');
  return again(authenticator.hasNames ? 'Wrong name or password.' : 'Wrong password.', 401);
}

/** The form again, with the time that is left. The page asks for itself when it is over: it has no script. */
function askToWait(
  c: Exchange,
  context: DashboardContext,
  { waitMs, to = '/', name = '' }: { waitMs: number; to?: string; name?: string },
): Response | Promise<Response> {
  const seconds = Math.ceil(waitMs / 1000);
  c.header('Retry-After', String(seconds));
  c.header('Refresh', `${seconds}; url=${context.basePath}/sign-in?to=${encodeURIComponent(to)}`);
  const problem = `Too many attempts to sign in. The next one is possible in ${seconds} seconds.`;
  return asPage(
    c,
    <SignInPage context={context} to={to} name={name} problem={problem} seconds={seconds} />,
    429,
  );
}

/** Writes a new one-time link to the log. */
export function logNewLink(c: Exchange, context: DashboardContext): Response | Promise<Response> {
  if (!context.authenticator.hasLink) return c.redirect('/sign-in', 303);
  // Each new link counts as a failed attempt, so that no one can fill the log.
  const attempt = beginAttempt(c, context);
  if ('waitMs' in attempt) return askToWait(c, context, attempt);
  context.authenticator.renewKey();
  context.log.info(`Sign in to the dashboard, once: ${context.authenticator.linkAt(context.url)}`);
  return asPage(c, <SignInPage context={context} to="/" problem="A new link is in the log of the daemon." />);
}

/** Ends the session, and that at the issuer. */
export async function endSession(c: Exchange, context: DashboardContext): Promise<Response> {
  const { principal, from } = actorOf(c);
  const who = { kind: principal.kind, name: principal.name };
  await context.control.audit.note({ who, from, what: 'sign-out', result: 'done' });
  const identity = c.get('session')?.identity;
  const id = sentIn(c, context) ?? '';
  await signOut(c, context);
  const there =
    identity?.by === 'oidc'
      ? await context.oidc.endSessionUrl(unseal(identity.idToken, id), `${originOf(c, context)}/sign-in`)
      : undefined;
  // Not a redirect: the content policy lets forms lead to pages of this server only.
  return there ? reloadSameSite(c, there.href) : c.redirect('/sign-in', 303);
}

/** The sign-in page with a problem. */
export const showSignInProblem = (
  c: Exchange,
  context: DashboardContext,
  status: 401 | 403 | 502 | 503,
  problem: string,
): Response | Promise<Response> =>
  asPage(c, <SignInPage context={context} to="/" problem={problem} />, status);

interface SignInProps {
  context: DashboardContext;
  to: string;
  name?: string;
  problem?: string;
  /** So long no one can sign in. */
  seconds?: number;
}

const SignInPage = ({ context: { authenticator, access }, to, name = '', problem, seconds }: SignInProps) => (
  <Layout title="Sign in" principal={undefined}>
    <section class="narrow card">
      <h1>Caretaker</h1>
      {problem && (
        <p class="note" role="status">
          {problem}
        </p>
      )}
      {seconds !== undefined && <Countdown seconds={seconds} />}
      {(authenticator.hasPassword || authenticator.hasNames) && (
        <PasswordForm
          to={to}
          name={name}
          withName={authenticator.hasNames}
          withPassword={authenticator.hasPassword}
          isLate={seconds !== undefined}
        />
      )}
      {access().oidc && (
        <p>
          <a class="action wide" href={`/sign-in/oidc?to=${encodeURIComponent(to)}`}>
            Sign in with {new URL(access().oidc?.issuer ?? '').host}
          </a>
        </p>
      )}
      {authenticator.hasLink && <LinkForm />}
    </section>
  </Layout>
);

interface PasswordProps {
  to: string;
  name: string;
  /** Whether users have passwords; else there is only the single one. */
  withName: boolean;
  withPassword: boolean;
  /** No one can sign in now. */
  isLate: boolean;
}

/** What is left of the time, as a bar that gets shorter. */
const Countdown = ({ seconds }: { seconds: number }) => (
  <svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
    <rect class="is-warn" width="100" height="1">
      <animate attributeName="width" from="100" to="0" dur={`${seconds}s`} fill="freeze" />
    </rect>
  </svg>
);

const PasswordForm = ({ to, name, withName, withPassword, isLate }: PasswordProps) => (
  <form method="post" action="/sign-in">
    <input type="hidden" name="to" value={to} />
    {withName && (
      <label>
        {withPassword ? 'Name (empty for the admin)' : 'Name'}
        <input
          name="name"
          value={name}
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
          required={!withPassword}
          autofocus
        />
      </label>
    )}
    <label>
      Password
      <input type="password" name="password" autocomplete="current-password" required autofocus={!withName} />
    </label>
    <button type="submit" disabled={isLate}>
      Sign in
    </button>
  </form>
);

const LinkForm = () => (
  <form method="post" action="/sign-in/link">
    <p>
      No password is set, so people on this machine sign in with a link, which works for one browser.{' '}
      <code>caretaker dashboard</code> prints one; the daemon can also write one to its log.
    </p>
    <button type="submit">Write a new link to the log</button>
  </form>
);

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
  const { authenticator, loginThrottle, oidc, onSignIn } = context;
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
    const waitMs = loginThrottle.waitOf(principal.name);
    if (waitMs > 0) return askToWait(c, context, { waitMs, to });
    await signIn(c, context, identity, principal);
    loginThrottle.succeed(principal.name);
    onSignIn({ name: principal.name, principal, address: addressOf(c), ok: true });
    // The browser comes from another site: after a redirect it would not send the new cookie.
    return reloadSameSite(c, pathAfter(to, principal));
  } catch (error) {
    const isAway = error instanceof SessionsAwayError;
    const why = isAway ? 'Redis does not answer' : 'the issuer has not confirmed who it is';
    onSignIn({ address: addressOf(c), ok: false, why });
    return showFailure(c, context, error);
  }
}

function showFailure(c: Exchange, context: DashboardContext, error: unknown): Response | Promise<Response> {
  if (error instanceof SessionsAwayError) return showSignInProblem(c, context, 503, error.message);
  if (!(error instanceof IssuerError || error instanceof OidcRefusedError)) throw error;
  context.log.warn({ err: error }, 'a sign-in by OpenID Connect failed');
  return showSignInProblem(c, context, error instanceof IssuerError ? 502 : 401, error.message);
}
