/** Signing in and out: the only pages that need no session. */
import { isSignedIn, signIn, signOut } from '../auth/cookie.ts';
import { addressOf, countFailed, refuseGuessing, reloadSameSite } from '../auth/guard.tsx';
import { localPath } from '../auth/origin.ts';
import { asPage, Layout } from '../components/layout.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';

/** The sign-in page. With the `?key=` of a one-time link it signs in. */
export function showSignIn(c: Exchange, context: DashboardContext): Response | Promise<Response> {
  const to = localPath(c.req.query('to') ?? '/');
  if (isSignedIn(c, context)) return c.redirect(to);
  const key = c.req.query('key');
  if (key === undefined) return asPage(c, <SignInPage context={context} to={to} />);
  const refused = refuseGuessing(c, context);
  if (refused) return refused;
  if (context.authenticator.useKey(key)) {
    signIn(c, context);
    // When the link was on a page of another site, the browser would not send the new cookie after a redirect.
    return c.req.header('sec-fetch-site') === 'cross-site' ? reloadSameSite(c, '/') : c.redirect('/');
  }
  const slowedDown = countFailed(c, context);
  if (slowedDown) return slowedDown;
  return asPage(
    c,
    <SignInPage
      context={context}
      to={to}
      problem="This link was used already, or a newer link replaced it."
    />,
    401,
  );
}

/** Signs in with the password of the form. */
export async function trySignIn(c: Exchange, context: DashboardContext): Promise<Response> {
  const refused = refuseGuessing(c, context);
  if (refused) return refused;
  const form = await c.req.parseBody();
  const to = localPath(typeof form['to'] === 'string' ? form['to'] : '/');
  if (typeof form['password'] === 'string' && context.authenticator.isPassword(form['password'])) {
    signIn(c, context);
    return c.redirect(to, 303);
  }
  context.log.warn({ address: addressOf(c) }, 'a sign-in to the dashboard failed');
  const slowedDown = countFailed(c, context);
  if (slowedDown) return slowedDown;
  return asPage(c, <SignInPage context={context} to={to} problem="Wrong password." />, 401);
}

/** Writes a new one-time link to the log. */
export function logNewLink(c: Exchange, context: DashboardContext): Response | Promise<Response> {
  if (context.authenticator.hasPassword) return c.redirect('/sign-in', 303);
  const refused = refuseGuessing(c, context);
  if (refused) return refused;
  const slowedDown = countFailed(c, context);
  if (slowedDown) return slowedDown;
  context.authenticator.renewKey();
  context.log.info(`Sign in to the dashboard, once: ${context.authenticator.linkAt(context.url)}`);
  return asPage(c, <SignInPage context={context} to="/" problem="A new link is in the log of the daemon." />);
}

/** Ends the session. */
export function endSession(c: Exchange, context: DashboardContext): Response {
  signOut(c, context);
  return c.redirect('/sign-in', 303);
}

const SignInPage = ({
  context,
  to,
  problem,
}: {
  context: DashboardContext;
  to: string;
  problem?: string;
}) => (
  <Layout title="Sign in" signedIn={false}>
    <section class="narrow card">
      <h1>Caretaker</h1>
      {problem && (
        <p class="note" role="status">
          {problem}
        </p>
      )}
      {context.authenticator.hasPassword ? <PasswordForm to={to} /> : <LinkForm />}
    </section>
  </Layout>
);

const PasswordForm = ({ to }: { to: string }) => (
  <form method="post" action="/sign-in">
    <input type="hidden" name="to" value={to} />
    <label>
      Password
      <input type="password" name="password" autocomplete="current-password" required autofocus />
    </label>
    <button type="submit">Sign in</button>
  </form>
);

const LinkForm = () => (
  <form method="post" action="/sign-in/link">
    <p>
      No password is set, so people on this machine sign in with a link. A daemon started in a terminal has
      printed one, which works for one browser. Any daemon writes a new link to its log on request.
    </p>
    <button type="submit">Write a new link to the log</button>
  </form>
);
