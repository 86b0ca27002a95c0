/** Access control: who sent a request, and whether that principal may request the address. */
import { createMiddleware } from 'hono/factory';
import { holds, isPermitted, type Principal, type Role } from '../../access/principal.ts';
import { noteForbidden } from '../../control/carry-out.ts';
import type { ActSubject, AnyCommand } from '../../control/command.ts';
import { subjectOfDelivery } from '../../control/commands/notifications.ts';
import { subjectOfReceiver } from '../../control/commands/test-receiver.ts';
import { queueNames } from '../../records/filter-values.ts';
import { refuse } from '../api/problem-document.ts';
import { asPage } from '../components/layout.tsx';
import type { DashboardContext, Env, Exchange } from '../http/context.ts';
import { sendProblem } from '../pages/problem.tsx';
import { scopedTo } from '../queries/scope.ts';
import { programIn } from './attempt.ts';
import { actorOf, isBearer } from './caller.ts';
import { findAddress } from './client-address.ts';
import { findSession, principalOfSession } from './cookie.ts';
import { localPath } from './origin.ts';
import { SessionsAwayError } from './sessions.ts';
import { pathOfForm } from './typed-form.ts';

/** `open`: everyone. Else the role that the request needs. */
export type Access = 'open' | Role;

/** Who may request an address. */
export interface Rule {
  access: Access;
  /**
   * What the request concerns; undefined when there is no such thing. Missing: a grant with any limits is
   * enough, and the answer contains only what the grants cover.
   */
  subject?: (
    c: Exchange,
    context: DashboardContext,
  ) => ActSubject | undefined | Promise<ActSubject | undefined>;
  /** What the request does, when it acts: then the audit log has a line when it is refused. */
  command?: AnyCommand;
  /** Whether programs may request it with a token or the password, in addition to people who are signed in. */
  programs?: true;
}
export type SubjectOf = NonNullable<Rule['subject']>;

/** Only for grants without limits. */
export const everything: SubjectOf = () => ({});

export const policyInPath: SubjectOf = (c, { policies }) => {
  const policy = policies().find(({ name }) => name === c.req.param('name'));
  return policy && { policy: policy.name, account: policy.account };
};

export const runInPath: SubjectOf = async (c, { reader }) => {
  const run = await reader.run(c.req.param('id') ?? '');
  return run && { policy: run.policy, account: run.account, run: run.id };
};

export const deliveryInPath: SubjectOf = async (c, { control }) => {
  const delivery = await control.records.deliveries.get(c.req.param('delivery') ?? '');
  return delivery && subjectOfDelivery(delivery);
};

export const receiverInPath: SubjectOf = (c, { receivers }) => {
  const found = receivers().find(({ name }) => name === c.req.param('receiver'));
  return found && subjectOfReceiver(found.name);
};

/** A queue; an unknown one is none. */
export const queueInPath: SubjectOf = (c) => {
  const queue = queueNames.find((name) => name === c.req.param('queue'));
  return queue && { detail: queue };
};

/** An act on what the address names, and the page that asks for it. */
const ruleOn =
  (subject: SubjectOf) =>
  (command: AnyCommand): Rule => ({ access: command.role, subject, command });
export const onPolicy = ruleOn(policyInPath);
export const onRun = ruleOn(runInPath);
export const onDelivery = ruleOn(deliveryInPath);
export const onReceiver = ruleOn(receiverInPath);
export const onQueue = ruleOn(queueInPath);

export const NO_POLICY = 'No active policy has this name.';
export const NO_DELIVERY = 'There is no such notification. They are kept for 30 days.';
export const NO_RECEIVER = 'The configuration has no receiver with this name.';
export const NO_RUN = 'There is no such run, or it is older than the retention period.';

/** Of no policy and no account: everyone may know of it. */
const general: readonly (SubjectOf | undefined)[] = [everything, receiverInPath, queueInPath];

/** What is answered when there is no such subject, or the principal may not see it. */
const missing = new Map<SubjectOf, string>([
  [runInPath, NO_RUN],
  [deliveryInPath, NO_DELIVERY],
]);

/**
 * Finds out who is signed in, and from where. A request with a bearer token is a program's, whatever cookies it has,
 * because `sameOriginOnly` admits its changes without an origin.
 */
export const identify = (context: DashboardContext) =>
  createMiddleware<Env>(async (c, next) => {
    c.set('address', findAddress(c, context));
    if (isBearer(c)) return next();
    try {
      const session = await findSession(c, context, isByPerson(c));
      const principal = principalOfSession(session, context);
      if (session) c.set('session', session);
      if (principal) c.set('principal', principal);
    } catch (error) {
      if (!(error instanceof SessionsAwayError)) throw error;
      c.set('notKnown', error);
    }
    return next();
  });

/** The script of an open page asks for the page and its events by itself; what a browser accepts is longer. */
const isByPerson = ({ req }: Exchange): boolean =>
  req.path !== '/events' && req.header('accept') !== 'text/html';

/**
 * Lets through requests of principals with the role. Asks others to sign in: browsers by a page, programs by a
 * 401. What a principal may not see is answered as if it did not exist.
 */
export const guard = (rule: Rule, context: DashboardContext) =>
  createMiddleware<Env>(async (c, next) => {
    const { access, programs } = rule;
    if (access === 'open') return next();
    const found = c.get('principal') ?? (programs ? programIn(c, context) : undefined);
    if (found instanceof Response) return found;
    const notKnown = c.get('notKnown');
    if (!found && notKnown) throw notKnown;
    if (!found) return programs ? askProgram(c, context) : askPerson(c);
    c.set('principal', found);
    return (await refusalOf(c, context, found, { ...rule, access })) ?? next();
  });

async function refusalOf(
  c: Exchange,
  context: DashboardContext,
  principal: Principal,
  { access, subject, programs, command }: Rule & { access: Role },
): Promise<Response | undefined> {
  const concerned = await subject?.(c, context);
  const say = async (status: 403 | 404, code: string, message: string) => {
    // The page that asks for confirmation is no act.
    if (command && concerned && c.req.method === 'POST')
      await noteForbidden(command, context.control, concerned, actorOf(c));
    return programs
      ? refuse(c, status, code, message)
      : sendProblem(c, scopedTo(principal, context), status, message);
  };
  // Without a subject there is nothing to change; the handler says what is missing.
  if (subject && concerned && !general.includes(subject) && !isPermitted(principal, 'viewer', concerned))
    return say(404, 'NOT_FOUND', missing.get(subject) ?? NO_POLICY);
  if (concerned ? isPermitted(principal, access, concerned) : holds(principal, access)) return undefined;
  const whole = general.includes(subject) && holds(principal, access);
  const needed = whole ? `the role ${access} for all policies and accounts` : `the role ${access}`;
  return say(403, 'FORBIDDEN', `You may not do this: it needs ${needed}.`);
}

function askProgram(c: Exchange, { authenticator, access }: DashboardContext): Response {
  const has = authenticator.hasPassword || access().tokens.length > 0;
  if (has) {
    c.header('WWW-Authenticate', 'Bearer realm="Caretaker"');
    c.header('WWW-Authenticate', 'Basic realm="Caretaker", charset="UTF-8"', { append: true });
  }
  const message = has
    ? 'Send a token (access.tokens) or the password of the dashboard: as a bearer token, or by HTTP Basic with any name.'
    : 'Programs need a token (access.tokens) or the password of the dashboard, and none is set (dashboard.password).';
  return refuse(c, 401, 'SIGN_IN', message);
}

/** Nothing is carried out: a form leads to sign-in and back too. */
async function askPerson(c: Exchange): Promise<Response> {
  const isForm =
    c.req.method === 'POST' &&
    c.req.header('content-type')?.startsWith('application/x-www-form-urlencoded') === true;
  const wantsPage = c.req.header('accept')?.includes('text/html') === true;
  if (!wantsPage || (c.req.method !== 'GET' && !isForm)) return refuse(c, 401, 'SIGN_IN', 'Sign in first.');
  const to = localPath(isForm ? await pathOfForm(c) : c.req.url);
  if (c.req.header('sec-fetch-site') === 'cross-site') return reloadSameSite(c, to);
  return c.redirect(`/sign-in?to=${encodeURIComponent(to)}`, isForm ? 303 : 302);
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
