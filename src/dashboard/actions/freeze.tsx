/** Freezes of the page Schedule: one begins, once or again and again, or one ends, as the commands do. */
import { isPermitted } from '../../access/principal.ts';
import { carryOut } from '../../control/carry-out.ts';
import { beginFreeze, endFreeze, freezeNamed } from '../../control/commands/freeze.ts';
import { InvalidRequestError } from '../../control/errors.ts';
import { defined } from '../../defined.ts';
import { type Freeze, formatFrozen } from '../../records/freeze-store.ts';
import { actorOf, principalOf } from '../auth/caller.ts';
import { freezeEndPath } from '../components/paths.ts';
import type { DashboardContext, Exchange, Handler } from '../http/context.ts';
import { redirectBack } from '../http/toast.ts';
import { sendProblem } from '../pages/problem.tsx';
import { showConfirmation, TextField } from './confirm.tsx';

const BACK = '/schedule';

/** The fields of the form, by the words of the command; `end` is the time or the duration of it. */
const fields = {
  policy: 'Policy, by name or pattern such as nightly-*',
  account: 'Account',
  client: 'Client, by name or id',
  tag: 'Tag, by name or id',
  from: 'Begin, such as 2026-12-24 18:00 Europe/Berlin (empty: now)',
  end: 'End: a time, or a duration such as 3d',
  cron: 'Each begin of one that recurs, as a cron expression such as 0 22 * * fri (empty: once)',
  timezone: 'Time zone of the cron expression (empty: UTC)',
  reason: 'Reason (shown to all users)',
};

export const askToFreeze = (c: Exchange, context: DashboardContext) => showForm(c, context);

const showForm = (c: Exchange, context: DashboardContext, refused?: { why: string; given: Given }) =>
  showConfirmation(c, context, {
    ...(refused && { refused: { why: refused.why, typed: (name) => [refused.given[name] ?? ''] } }),
    title: 'Add a freeze?',
    text: 'While it holds, its policies start no run, and new runs skip the targets of its client or tag. Active runs continue. All that is filled in has to hold; without policy, account, client and tag everything is frozen.',
    button: 'Add the freeze',
    back: BACK,
    fields: Object.entries(fields).map(([name, label]) => (
      <TextField name={name} label={label} maxlength={200} required={name === 'end'} />
    )),
  });

type Given = Readonly<Record<string, string>>;

export async function addFreeze(c: Exchange, context: DashboardContext): Promise<Response> {
  const form = await c.req.parseBody();
  const given: Given = Object.fromEntries(
    Object.keys(fields).flatMap((name) => {
      const value = form[name];
      return typeof value === 'string' && value.trim() !== '' ? [[name, value.trim()]] : [];
    }),
  );
  const { end, ...rest } = given;
  if (end === undefined) return c.redirect('/freezes/add', 303);
  const input = { ...rest, ...(rest['cron'] ? { for: end } : { until: end }) };
  const added = await carryOut(beginFreeze, context.control, input, actorOf(c)).catch((error: unknown) => {
    if (!(error instanceof InvalidRequestError)) throw error;
    // In the words of the form.
    const why = error.message
      .replace(/^The request is not valid: (?:the body )?/, 'It ')
      .replace(/^It (?:for|until) /, 'The end ')
      .replace(/^It (from|timezone|cron) /, 'The field $1 ');
    return showForm(c, context, { why, given });
  });
  if (added instanceof Response) return added;
  const { freeze, unchecked } = added;
  context.log.info({ freeze: freeze.id }, 'freeze added from the dashboard');
  const link = { path: freezeEndPath(freeze.rule?.id ?? freeze.id ?? 'everything'), word: 'End it' };
  const text = `A freeze was added: ${formatFrozen(freeze)}. ${unchecked ?? ''}`;
  return redirectBack(c, context, BACK, { text: text.trim(), link });
}

/** The handler, called only for a freeze that the principal may end. */
const withFreeze =
  (
    handle: (
      c: Exchange,
      context: DashboardContext,
      freeze: Freeze,
      id: string,
    ) => Response | Promise<Response>,
  ): Handler =>
  async (c, context) => {
    const id = c.req.param('freeze') ?? '';
    const found = await freezeNamed(context.control, id);
    const { account } = found?.scope ?? {};
    if (!found || !isPermitted(principalOf(c), endFreeze.role, defined({ account })))
      return sendProblem(c, context, 404, 'There is no such freeze: it may be over.');
    return handle(c, context, found, id);
  };

export const askToEndFreeze = withFreeze((c, context, freeze) =>
  showConfirmation(c, context, {
    title: `End the freeze of ${formatFrozen(freeze)}?`,
    text: 'One that recurs ends for good. Scheduled times that it skipped stay skipped.',
    button: 'End the freeze',
    back: BACK,
  }),
);

export const endFreezeNow = withFreeze(async (c, context, freeze, id) => {
  await carryOut(endFreeze, context.control, { freeze: id }, actorOf(c));
  context.log.info({ freeze: id }, 'freeze ended from the dashboard');
  return redirectBack(c, context, BACK, { text: `The freeze has ended: ${formatFrozen(freeze)}.` });
});
