/** Cancels an announced change, as the command does. */
import { isPermitted } from '../../access/principal.ts';
import { announcementNamed, noAnnouncement } from '../../control/announcements.ts';
import { carryOut } from '../../control/carry-out.ts';
import { cancelAnnouncement, sentencesOf } from '../../control/commands/announcements.ts';
import { actorOf, principalOf } from '../auth/caller.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { redirectBack } from '../http/toast.ts';
import { sendProblem } from '../pages/problem.tsx';
import { ReasonField, showConfirmation } from './confirm.tsx';

const idIn = (c: Exchange): string => c.req.param('id') ?? '';

export async function askToCancelAnnouncement(c: Exchange, context: DashboardContext): Promise<Response> {
  const found = await announcementNamed(context.control.records, idIn(c));
  if (!found || !isPermitted(principalOf(c), cancelAnnouncement.role, found))
    return sendProblem(c, context, 404, noAnnouncement(idIn(c)));
  return showConfirmation(c, context, {
    title: `Cancel the change to ${found.label}?`,
    text: (
      <>
        {found.policy} does not make this change ({found.operation ?? found.about}), and does not announce it
        again before 90 days after its date.{' '}
        {found.siteId === undefined ? '' : 'Its note is removed from the site: two requests.'}
      </>
    ),
    button: 'Cancel the change',
    back: '/approvals',
    fields: <ReasonField />,
  });
}

export async function cancelAnnounced(c: Exchange, context: DashboardContext): Promise<Response> {
  const { control, log } = context;
  const { reason } = await c.req.parseBody();
  const input = {
    announcement: idIn(c),
    ...(typeof reason === 'string' && reason.trim() !== '' ? { reason: reason.trim().slice(0, 200) } : {}),
  };
  const cancelled = await carryOut(cancelAnnouncement, control, input, actorOf(c));
  const answer = cancelAnnouncement.toAnswer(cancelled, input);
  log.info(
    { policy: answer.policy, announcement: answer.id },
    'announced change cancelled from the dashboard',
  );
  return redirectBack(c, context, '/approvals', { text: sentencesOf(answer).join(' ') });
}
