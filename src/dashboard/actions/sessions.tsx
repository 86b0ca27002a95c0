/** Ends one's own sessions: one of them, or all but the one that asks. */
import { NotFoundError } from '../../control/errors.ts';
import { countOf } from '../../text.ts';
import { actorOf } from '../auth/caller.ts';
import { ownSessions } from '../auth/cookie.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { redirectBack } from '../http/toast.ts';
import { type Change, formOf, Hidden, showConfirmation } from './confirm.tsx';

const PAGE = '/sessions';

/** What is to end of the reader's sessions: the one with this hash, or without one all others. */
async function endingBy(c: Exchange, context: DashboardContext, hash = '') {
  const { others } = await ownSessions(c, context);
  const hashes = others.map((one) => one.hash).filter((one) => hash === '' || one === hash);
  if (hashes.length === 0) throw new NotFoundError('You have no such session, or it has ended already.');
  const one = others.find((other) => other.hash === hash);
  return { hashes, what: one ? `${one.browser} (${one.address})` : countOf(hashes.length, 'other session') };
}

export const sessionChange: Change = {
  path: '/sessions/end',
  access: 'viewer',
  ask: async (c, context) => {
    const session = c.req.query('session');
    const { what } = await endingBy(c, context, session);
    return showConfirmation(c, context, {
      title: `Sign out ${what}?`,
      text: 'Pages that are open there ask to sign in within seconds. You stay signed in here.',
      button: 'Sign out there',
      back: PAGE,
      fields: <Hidden fields={{ session }} />,
    });
  },
  act: async (c, context) => {
    const { hashes, what } = await endingBy(c, context, (await formOf(c)).text('session'));
    const { principal, from } = actorOf(c);
    await context.sessions.end(principal.name, hashes);
    const who = { kind: principal.kind, name: principal.name };
    await context.control.audit.note({ who, from, what: 'sign-out', detail: what, result: 'done' });
    return redirectBack(c, context, PAGE, { text: `Signed out: ${what}.` });
  },
};
