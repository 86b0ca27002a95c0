/** What a person decides about the rings of a policy, as the commands do. */
import { carryOut } from '../../control/carry-out.ts';
import { holdRings, releaseVersion, unholdRings } from '../../control/commands/rings.ts';
import { defined } from '../../defined.ts';
import { actorOf } from '../auth/caller.ts';
import { policyPath } from '../components/paths.ts';
import { redirectBack } from '../http/toast.ts';
import { ReasonField, showConfirmation } from './confirm.tsx';
import { withPolicy } from './policy.tsx';

const LATER = 'It takes effect with the next run.';

/** The fields that the form keeps from the address of its question. */
const Kept = ({ fields }: { fields: Readonly<Record<string, string>> }) => (
  <>
    {Object.entries(fields).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
  </>
);

const texts = {
  hold: 'Its schedule is paused, and what has not started is cancelled. Updates in progress go on.',
  unhold: 'It goes on as the evidence allows.',
};

export const askAboutRing = (what: 'hold' | 'unhold') =>
  withPolicy((c, context, { name }) => {
    const ring = c.req.query('ring') ?? '';
    const verb = what === 'hold' ? `Hold ${ring}` : `End the hold of ${ring}`;
    return showConfirmation(c, context, {
      title: `${verb}?`,
      text: `${texts[what]} ${LATER}`,
      button: verb,
      back: policyPath(name, '/rings'),
      fields: (
        <>
          <Kept fields={{ ring }} />
          <ReasonField autofocus />
        </>
      ),
    });
  });

export const changeRing = (what: 'hold' | 'unhold') =>
  withPolicy(async (c, context, { name }) => {
    const { ring, reason } = (await c.req.parseBody()) as Record<string, string | undefined>;
    const command = what === 'hold' ? holdRings : unholdRings;
    await carryOut(command, context.control, { policy: name, ...defined({ ring, reason }) }, actorOf(c));
    const text = what === 'hold' ? `${ring} is held.` : `${ring} is no longer held.`;
    return redirectBack(c, context, policyPath(name, '/rings'), { text: `${text} ${LATER}` });
  });

export const askToRelease = withPolicy((c, context, { name }) => {
  const { item = '', version = '' } = c.req.query();
  return showConfirmation(c, context, {
    title: `Release ${item} ${version}?`,
    text: `It counts as proven where it was taken, although sites broke, and reaches the other rings. ${LATER}`,
    button: `Release ${version}`,
    back: policyPath(name, '/rings'),
    fields: (
      <>
        <Kept fields={{ item, version }} />
        <ReasonField autofocus />
      </>
    ),
  });
});

export const release = withPolicy(async (c, context, { name }) => {
  const { item, version, reason } = (await c.req.parseBody()) as Record<string, string>;
  await carryOut(
    releaseVersion,
    context.control,
    { policy: name, ...defined({ item, version, reason }) } as never,
    actorOf(c),
  );
  const text = `${item} ${version} is released. ${LATER}`;
  return redirectBack(c, context, policyPath(name, '/rings'), { text });
});
