/** Freezes of the page Schedule: one begins, once or again and again, or one ends, as the commands do. */
import { isPermitted } from '../../access/principal.ts';
import { beginFreeze, endFreeze, freezeNamed } from '../../control/commands/freeze.ts';
import { InvalidRequestError, NotFoundError } from '../../control/errors.ts';
import { defined } from '../../defined.ts';
import { formatFrozen } from '../../records/freeze-store.ts';
import { change, principalOf } from '../auth/caller.ts';
import { freezeEndPath } from '../components/paths.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { redirectBack } from '../http/toast.ts';
import { type Change, formOf, showConfirmation, TextField } from './confirm.tsx';

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

/** The freeze of the address, which the reader may end. */
async function freezeIn(c: Exchange, { control }: DashboardContext) {
  const found = await freezeNamed(control, idIn(c));
  const { account } = found?.scope ?? {};
  if (!found || !isPermitted(principalOf(c), endFreeze.role, defined({ account })))
    throw new NotFoundError('There is no such freeze: it may be over.');
  return formatFrozen(found);
}

const idIn = (c: Exchange): string => c.req.param('freeze') ?? '';

// The commands check the role for what is frozen.
export const freezeChanges: readonly Change[] = [
  {
    path: '/freezes/add',
    access: beginFreeze.role,
    ask: (c, context) => showForm(c, context),
    act: async (c, context) => {
      const { text } = await formOf(c);
      const given: Given = Object.fromEntries(
        Object.keys(fields)
          .map((name) => [name, text(name) ?? ''])
          .filter(([, value]) => value),
      );
      const { end, ...rest } = given;
      if (end === undefined) return c.redirect('/freezes/add', 303);
      const input = { ...rest, ...(rest['cron'] ? { for: end } : { until: end }) };
      try {
        const { freeze, unchecked = '' } = await change(c, context, beginFreeze, input);
        const link = { path: freezeEndPath(freeze.rule?.id ?? freeze.id ?? 'everything'), word: 'End it' };
        const text = `A freeze was added: ${formatFrozen(freeze)}. ${unchecked}`.trim();
        return redirectBack(c, context, BACK, { text, link });
      } catch (error) {
        if (!(error instanceof InvalidRequestError)) throw error;
        // In the words of the form.
        const why = error.message
          .replace(/^The request is not valid: (?:the body )?/, 'It ')
          .replace(/^It (?:for|until) /, 'The end ')
          .replace(/^It (from|timezone|cron) /, 'The field $1 ');
        return showForm(c, context, { why, given });
      }
    },
  },
  {
    path: '/freezes/:freeze/end',
    access: endFreeze.role,
    ask: async (c, context) =>
      showConfirmation(c, context, {
        title: `End the freeze of ${await freezeIn(c, context)}?`,
        text: 'One that recurs ends for good. Scheduled times that it skipped stay skipped.',
        button: 'End the freeze',
        back: BACK,
      }),
    act: async (c, context) => {
      const what = await freezeIn(c, context);
      await change(c, context, endFreeze, { freeze: idIn(c) });
      return redirectBack(c, context, BACK, { text: `The freeze has ended: ${what}.` });
    },
  },
];
