/** What a person decides about the rings of a policy, as the commands do. */
import { holdRings, releaseVersion, unholdRings } from '../../control/commands/rings.ts';
import { change } from '../auth/caller.ts';
import { onPolicy } from '../auth/guard.tsx';
import { policyPath } from '../components/paths.ts';
import { redirectBack } from '../http/toast.ts';
import { type Change, formOf, Hidden, ReasonField, showConfirmation } from './confirm.tsx';
import { withPolicy } from './policy.tsx';

const LATER = 'It takes effect with the next run.';

const texts = {
  hold: 'Its schedule is paused, and what has not started is cancelled. Updates in progress go on.',
  unhold: 'It goes on as the evidence allows.',
};

const onRing = (what: 'hold' | 'unhold'): Change => {
  const command = what === 'hold' ? holdRings : unholdRings;
  return {
    path: `/policies/:name/rings/${what}`,
    ...onPolicy(command),
    ask: withPolicy((c, context, { name }) => {
      const ring = c.req.query('ring') ?? '';
      const verb = what === 'hold' ? `Hold ${ring}` : `End the hold of ${ring}`;
      return showConfirmation(c, context, {
        title: `${verb}?`,
        text: `${texts[what]} ${LATER}`,
        button: verb,
        back: policyPath(name, '/rings'),
        fields: (
          <>
            <Hidden fields={{ ring }} />
            <ReasonField autofocus />
          </>
        ),
      });
    }),
    act: withPolicy(async (c, context, { name }) => {
      const { text } = await formOf(c);
      const ring = text('ring');
      await change(c, context, command, { policy: name, ring, reason: text('reason') });
      const done = what === 'hold' ? `${ring} is held.` : `${ring} is no longer held.`;
      return redirectBack(c, context, policyPath(name, '/rings'), { text: `${done} ${LATER}` });
    }),
  };
};

export const ringChanges: readonly Change[] = [
  onRing('hold'),
  onRing('unhold'),
  {
    path: '/policies/:name/rings/release',
    ...onPolicy(releaseVersion),
    ask: withPolicy((c, context, { name }) => {
      const { item = '', version = '' } = c.req.query();
      return showConfirmation(c, context, {
        title: `Release ${item} ${version}?`,
        text: `It counts as proven where it was taken, although sites broke, and reaches the other rings. ${LATER}`,
        button: `Release ${version}`,
        back: policyPath(name, '/rings'),
        fields: (
          <>
            <Hidden fields={{ item, version }} />
            <ReasonField autofocus />
          </>
        ),
      });
    }),
    act: withPolicy(async (c, context, { name }) => {
      const { text } = await formOf(c);
      const { item = '', version = '' } = { item: text('item'), version: text('version') };
      await change(c, context, releaseVersion, { policy: name, item, version, reason: text('reason') });
      const done = `${item} ${version} is released. ${LATER}`;
      return redirectBack(c, context, policyPath(name, '/rings'), { text: done });
    }),
  },
];
