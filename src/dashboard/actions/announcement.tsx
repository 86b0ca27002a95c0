/** Cancels an announced change, as the command does. */
import { isPermitted } from '../../access/principal.ts';
import { announcementNamed, noAnnouncement } from '../../control/announcements.ts';
import { cancelAnnouncement, sentencesOf } from '../../control/commands/announcements.ts';
import { NotFoundError } from '../../control/errors.ts';
import { change, principalOf } from '../auth/caller.ts';
import { redirectBack } from '../http/toast.ts';
import { type Change, formOf, ReasonField, showConfirmation } from './confirm.tsx';

export const announcementChange: Change = {
  path: '/announcements/:id/cancel',
  // The handler checks the role for the announcement.
  access: cancelAnnouncement.role,
  ask: async (c, context) => {
    const id = c.req.param('id') ?? '';
    const found = await announcementNamed(context.control.records, id);
    if (!found || !isPermitted(principalOf(c), cancelAnnouncement.role, found))
      throw new NotFoundError(noAnnouncement(id));
    const { policy, label, operation = found.about, siteId } = found;
    const note = siteId === undefined ? '' : ' Its note is removed from the site: two requests.';
    return showConfirmation(c, context, {
      title: `Cancel the change to ${label}?`,
      text: `${policy} does not make this change (${operation}), and does not announce it again before 90 days after its date.${note}`,
      button: 'Cancel the change',
      back: '/approvals',
      fields: <ReasonField />,
    });
  },
  act: async (c, context) => {
    const input = { announcement: c.req.param('id') ?? '', reason: (await formOf(c)).text('reason') };
    const answer = cancelAnnouncement.toAnswer(await change(c, context, cancelAnnouncement, input), input);
    return redirectBack(c, context, '/approvals', { text: sentencesOf(answer).join(' ') });
  },
};
