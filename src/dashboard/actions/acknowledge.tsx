/** Acknowledges a finding, or ends that, as the commands do. */
import { isPermitted } from '../../access/principal.ts';
import { acknowledgeFindings, unacknowledgeFindings } from '../../control/commands/acknowledge-findings.ts';
import { NotFoundError } from '../../control/errors.ts';
import { change, principalOf } from '../auth/caller.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { redirectBack } from '../http/toast.ts';
import { type Change, formOf, Hidden, ReasonAndEnd, reasonAndEnd, showConfirmation } from './confirm.tsx';

/** The policy, account, site and subject that name a finding. */
function findingNamed(text: (field: string) => string | undefined) {
  const [policy = '', account = '', site = '', about = ''] = ['policy', 'account', 'site', 'about'].map(text);
  if (!policy || !account || !site || !about) throw new NotFoundError(NONE);
  return { policy, account, site, about };
}

const NONE = 'There is no such open finding, or you may not acknowledge it.';

/** The finding of the address, which the reader may change. */
async function askedIn(c: Exchange, { reader }: DashboardContext) {
  const asked = findingNamed((field) => c.req.query(field));
  const { policy, account, site, about } = asked;
  const open = isPermitted(principalOf(c), acknowledgeFindings.role, { policy, account })
    ? await reader.findings.ofSite(account, site)
    : [];
  const finding = open.find((one) => one.policy === policy && one.about === about);
  if (!finding) throw new NotFoundError(NONE);
  return { asked, finding };
}

// The handlers check the role for the policy of the finding.
export const findingChanges: readonly Change[] = [
  {
    path: '/findings/acknowledge',
    access: acknowledgeFindings.role,
    ask: async (c, context) => {
      const { asked, finding } = await askedIn(c, context);
      return showConfirmation(c, context, {
        title: 'Acknowledge this finding?',
        text: `${finding.label}: ${finding.message} It is listed as acknowledged and does not count. When it is resolved and comes back, it counts again.`,
        button: 'Acknowledge it',
        back: '/findings',
        fields: (
          <>
            <Hidden fields={asked} />
            <AcknowledgeFields />
          </>
        ),
      });
    },
    act: async (c, context) => {
      const form = await formOf(c);
      const input = { ...findingNamed(form.text), ...reasonAndEnd(form) };
      await change(c, context, acknowledgeFindings, input);
      return redirectBack(c, context, '/findings', { text: 'The finding is acknowledged.' });
    },
  },
  {
    path: '/findings/unacknowledge',
    access: unacknowledgeFindings.role,
    ask: async (c, context) => {
      const { asked, finding } = await askedIn(c, context);
      return showConfirmation(c, context, {
        title: 'End this acknowledgement?',
        text: `${finding.label}: ${finding.message} It counts again.`,
        button: 'End the acknowledgement',
        back: '/findings',
        fields: <Hidden fields={asked} />,
      });
    },
    act: async (c, context) => {
      await change(c, context, unacknowledgeFindings, findingNamed((await formOf(c)).text));
      return redirectBack(c, context, '/findings', { text: 'The finding counts again.' });
    },
  },
];

export const AcknowledgeFields = () => (
  <ReasonAndEnd required example="7d or 12h (empty: until it is resolved)" />
);
