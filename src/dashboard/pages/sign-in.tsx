/** Coming in and leaving: the only pages that need no session. */
import { isSignedIn, signIn, signOut } from '../auth/cookie.ts';
import { addressOf, countFailed, refuseGuessing, reloadSameSite } from '../auth/guard.tsx';
import { localPath } from '../auth/origin.ts';
import { asPage, Layout } from '../components/layout.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';

/** The sign-in page; with `?key=` of a one-time link, the way in itself. */
export function showSignIn(c: Exchange, context: DashboardContext): Response | Promise<Response> {
  const to = localPath(c.req.query('to') ?? '/');
  if (isSignedIn(c, context)) return c.redirect(to);
  const key = c.req.query('key');
  if (key === undefined) return asPage(c, <SignInPage context={context} to={to} />);
  const refused = refuseGuessing(c, context);
  if (refused) return refused;
  if (context.authenticator.useKey(key)) {
    signIn(c, context);
    // A link followed from a page elsewhere would lose the new cookie on a redirect.
    return c.req.header('sec-fetch-site') === 'cross-site' ? reloadSameSite(c, '/') : c.redirect('/');
  }
  const slowedDown = countFailed(c, context);
  if (slowedDown) return slowedDown;
  return asPage(
    c,
    <SignInPage
      context={context}
      to={to}
      problem="This link has been used, or another has taken its place."
    />,
    401,
  );
}

/** Signs in by the password of the form. */
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
  return asPage(c, <SignInPage context={context} to={to} problem="That is not the password." />, 401);
}

/** Writes a new one-time link to the log, where whoever runs this machine finds it. */
export function printLink(c: Exchange, context: DashboardContext): Response | Promise<Response> {
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
export function leave(c: Exchange, context: DashboardContext): Response {
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
      No password is set, so this machine's own people sign in by a link. A daemon started at a terminal
      printed one; it is good for one browser. Any other writes one to its log when asked.
    </p>
    <button type="submit">Print a new link in the log</button>
  </form>
);
