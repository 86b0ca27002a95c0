/** Acknowledges a finding, or ends that, as the commands do. */
import { isPermitted } from '../../access/principal.ts';
import { carryOut } from '../../control/carry-out.ts';
import { acknowledgeFindings, unacknowledgeFindings } from '../../control/commands/acknowledge-findings.ts';
import { parseDuration } from '../../yaml/duration.ts';
import { actorOf, principalOf } from '../auth/caller.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { redirectBack } from '../http/toast.ts';
import { sendProblem } from '../pages/problem.tsx';
import { ReasonField, showConfirmation, TextField } from './confirm.tsx';

type Asked = Record<'policy' | 'account' | 'site' | 'about', string>;
const fields = ['policy', 'account', 'site', 'about'] as const;

const Hidden = ({ asked }: { asked: Asked }) => (
  <>
    {fields.map((name) => (
      <input type="hidden" name={name} value={asked[name]} />
    ))}
  </>
);

/** Why, and for how long. */
export const AcknowledgeFields = () => (
  <>
    <ReasonField required autofocus />
    <TextField name="for" label="Duration, such as 7d or 12h (empty: until it is resolved)" maxlength={20} />
  </>
);

/** What they say; a sentence when it cannot be understood. */
export function readAcknowledge(text: (name: string) => string): { reason: string; until?: string } | string {
  const until = text('for').slice(0, 20);
  if (until !== '' && !parseDuration(until)) return `“${until}” is not a duration: write 7d, 12h or 1h30m.`;
  return { reason: text('reason').slice(0, 200), ...(until === '' ? {} : { until }) };
}

/** The finding of the address; undefined when there is none that the reader may change. */
async function askedIn(c: Exchange, { reader }: DashboardContext) {
  const [policy = '', account = '', site = '', about = ''] = fields.map((name) => c.req.query(name));
  const asked = { policy, account, site, about };
  if (!isPermitted(principalOf(c), acknowledgeFindings.role, { policy, account })) return undefined;
  const open = await reader.findings.ofSite(account, site);
  const finding = open.find((one) => one.policy === policy && one.about === about);
  return finding && { asked, finding };
}

const NONE = 'There is no such open finding, or you may not acknowledge it.';

export async function askToAcknowledge(c: Exchange, context: DashboardContext): Promise<Response> {
  const found = await askedIn(c, context);
  if (!found) return sendProblem(c, context, 404, NONE);
  const { asked, finding } = found;
  return showConfirmation(c, context, {
    title: 'Acknowledge this finding?',
    text: (
      <>
        {finding.label}: {finding.message} It is listed as acknowledged and does not count. When it is
        resolved and comes back, it counts again.
      </>
    ),
    button: 'Acknowledge it',
    back: '/findings',
    fields: (
      <>
        <Hidden asked={asked} />
        <AcknowledgeFields />
      </>
    ),
  });
}

export async function askToUnacknowledge(c: Exchange, context: DashboardContext): Promise<Response> {
  const found = await askedIn(c, context);
  if (!found) return sendProblem(c, context, 404, NONE);
  return showConfirmation(c, context, {
    title: 'End this acknowledgement?',
    text: `${found.finding.label}: ${found.finding.message} It counts again.`,
    button: 'End the acknowledgement',
    back: '/findings',
    fields: <Hidden asked={found.asked} />,
  });
}

/** What was sent; undefined when it names no finding. */
async function sentIn(c: Exchange) {
  const form = await c.req.parseBody();
  const text = (name: string) => (typeof form[name] === 'string' ? form[name].trim() : '');
  const asked = {
    policy: text('policy'),
    account: text('account'),
    site: text('site'),
    about: text('about'),
  };
  return fields.some((name) => asked[name] === '') ? undefined : { text, asked };
}

export async function acknowledge(c: Exchange, context: DashboardContext): Promise<Response> {
  const sent = await sentIn(c);
  if (!sent) return sendProblem(c, context, 404, NONE);
  const { text, asked } = sent;
  const input = readAcknowledge(text);
  if (typeof input === 'string') return sendProblem(c, context, 400, `${input} Nothing was changed.`);
  await carryOut(acknowledgeFindings, context.control, { ...asked, ...input }, actorOf(c));
  return redirectBack(c, context, '/findings', { text: 'The finding is acknowledged.' });
}

export async function unacknowledge(c: Exchange, context: DashboardContext): Promise<Response> {
  const sent = await sentIn(c);
  if (!sent) return sendProblem(c, context, 404, NONE);
  await carryOut(unacknowledgeFindings, context.control, sent.asked, actorOf(c));
  return redirectBack(c, context, '/findings', { text: 'The finding counts again.' });
}
