/** Changes to a policy: run it now, pause it, resume it. They do what the commands do. */
import { setTimeout as after } from 'node:timers/promises';
import { pausePolicy, resumePolicy } from '../../control/commands/pause-policy.ts';
import { runPolicy } from '../../control/commands/run-policy.ts';
import { NotFoundError } from '../../control/errors.ts';
import type { Policy } from '../../policy/policy.ts';
import { countOf } from '../../text.ts';
import { actorOf, change } from '../auth/caller.ts';
import { NO_POLICY, onPolicy } from '../auth/guard.tsx';
import { policyPath, runPath } from '../components/paths.ts';
import type { DashboardContext, Exchange, Handler } from '../http/context.ts';
import { redirectBack, redirectWith } from '../http/toast.ts';
import { policyIn } from '../pages/policy.tsx';
import { type Change, formOf, ReasonAndEnd, reasonAndEnd, showConfirmation } from './confirm.tsx';
import { beginPlan } from './plans-in-work.ts';

type PolicyHandler = (c: Exchange, context: DashboardContext, policy: Policy) => Response | Promise<Response>;

/** The handler, called only for active policies. */
export const withPolicy =
  (handle: PolicyHandler): Handler =>
  (c, context) => {
    const policy = policyIn(c, context);
    if (!policy) throw new NotFoundError(NO_POLICY);
    return handle(c, context, policy);
  };

/** A plan that is made within this time is shown at once. */
const SOON_MS = 3_000;

/** Makes a plan, for the tab that shows it. Costs the requests of planning. */
export const makePlan = withPolicy(async (c, context, policy) => {
  const path = policyPath(policy.name, '/plan');
  const plan = beginPlan(context, policy, actorOf(c));
  // The page says why it failed later.
  plan.catch(() => undefined);
  const targets = await Promise.race([plan, after(SOON_MS, undefined, { ref: false })]);
  return targets === undefined
    ? c.redirect(path, 303)
    : redirectWith(c, context, path, { text: `Planned: ${countOf(targets, 'target')}.` });
});

/** What is asked of a pause. */
export const PauseFields = () => <ReasonAndEnd example="3d or 1h30m (empty: until it is resumed)" />;

export const policyChanges: readonly Change[] = [
  {
    path: '/policies/:name/run',
    ...onPolicy(runPolicy),
    ask: withPolicy((c, context, { name, job, account }) =>
      showConfirmation(c, context, {
        title: `Run ${name} now?`,
        text: (
          <>
            The job <b>{job}</b> works on every target that the policy selects in the account <b>{account}</b>
            . <a href={policyPath(name, '/plan')}>A plan</a> shows these targets first.
          </>
        ),
        button: `Run ${name}`,
        back: policyPath(name),
      }),
    ),
    // As `run --detach` does: only while a worker is running.
    act: withPolicy(async (c, context, { name }) => {
      const run = await change(c, context, runPolicy, { policy: name, detach: true });
      return redirectWith(c, context, runPath(run.id), { text: `${name} was started.` });
    }),
  },
  {
    path: '/policies/:name/pause',
    ...onPolicy(pausePolicy),
    ask: withPolicy((c, context, { name }) =>
      showConfirmation(c, context, {
        title: `Pause ${name}?`,
        text: 'It has no scheduled runs until it is resumed, even after a restart. Active runs continue.',
        button: `Pause ${name}`,
        back: policyPath(name),
        fields: <PauseFields />,
      }),
    ),
    act: withPolicy(async (c, context, { name }) => {
      await change(c, context, pausePolicy, { policy: name, ...reasonAndEnd(await formOf(c)) });
      const undo = { path: policyPath(name, '/resume'), word: 'Resume it' };
      return redirectBack(c, context, policyPath(name), { text: `${name} is paused.`, link: undo });
    }),
  },
  {
    path: '/policies/:name/resume',
    ...onPolicy(resumePolicy),
    ask: withPolicy((c, context, { name, schedule }) =>
      showConfirmation(c, context, {
        title: `Resume ${name}?`,
        text: schedule?.disabled
          ? 'Its pause ends. It still has no scheduled runs: its file disables the schedule (schedule.enabled: false).'
          : 'Its scheduled runs start again. Runs that were due during the pause are not caught up.',
        button: `Resume ${name}`,
        back: policyPath(name),
      }),
    ),
    act: withPolicy(async (c, context, { name }) => {
      await change(c, context, resumePolicy, { policy: name });
      return redirectBack(c, context, policyPath(name), { text: `${name} is resumed.` });
    }),
  },
];
