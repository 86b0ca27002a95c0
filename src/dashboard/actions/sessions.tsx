/** Ends one's own sessions: one of them, or all but the one that asks. */
import { countOf } from '../../text.ts';
import { actorOf } from '../auth/caller.ts';
import { ownSessions } from '../auth/cookie.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { redirectBack } from '../http/toast.ts';
import { sendProblem } from '../pages/problem.tsx';
import { showConfirmation } from './confirm.tsx';

const PAGE = '/sessions';
const NONE = 'You have no such session, or it has ended already.';

/** What is to end of the reader's sessions: the one with this hash, or without one all others. */
async function endingBy(c: Exchange, context: DashboardContext, hash: string) {
  const { others } = await ownSessions(c, context);
  const hashes = others.map((one) => one.hash).filter((one) => hash === '' || one === hash);
  const one = others.find((other) => other.hash === hash);
  return { hashes, what: one ? `${one.browser} (${one.address})` : countOf(hashes.length, 'other session') };
}

export async function askToEndSessions(c: Exchange, context: DashboardContext): Promise<Response> {
  const hash = c.req.query('session') ?? '';
  const { hashes, what } = await endingBy(c, context, hash);
  if (hashes.length === 0) return sendProblem(c, context, 404, NONE);
  return showConfirmation(c, context, {
    title: `Sign out ${what}?`,
    text: 'Pages that are open there ask to sign in within seconds. You stay signed in here.',
    button: 'Sign out there',
    back: PAGE,
    fields: <input type="hidden" name="session" value={hash} />,
  });
}

export async function endSessions(c: Exchange, context: DashboardContext): Promise<Response> {
  const { session } = await c.req.parseBody();
  const { hashes, what } = await endingBy(c, context, typeof session === 'string' ? session : '');
  if (hashes.length === 0) return sendProblem(c, context, 404, NONE);
  const { principal, from } = actorOf(c);
  await context.sessions.end(principal.name, hashes);
  const who = { kind: principal.kind, name: principal.name };
  await context.control.audit.note({ who, from, what: 'sign-out', detail: what, result: 'done' });
  return redirectBack(c, context, PAGE, { text: `Signed out: ${what}.` });
}
