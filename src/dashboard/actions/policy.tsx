/** Changes to a policy: run it now, pause it, resume it. They do what the commands do. */
import { setTimeout as after } from 'node:timers/promises';
import { carryOut } from '../../control/carry-out.ts';
import { pausePolicy, resumePolicy } from '../../control/commands/pause-policy.ts';
import { runPolicy } from '../../control/commands/run-policy.ts';
import { InvalidRequestError } from '../../control/errors.ts';
import type { Policy } from '../../policy/policy.ts';
import { countOf } from '../../text.ts';
import { parseDuration } from '../../yaml/duration.ts';
import { actorOf } from '../auth/caller.ts';
import { NO_POLICY } from '../auth/guard.tsx';
import { policyPath, runPath } from '../components/paths.ts';
import type { DashboardContext, Exchange, Handler } from '../http/context.ts';
import { redirectBack, redirectWith } from '../http/toast.ts';
import { policyIn } from '../pages/policy.tsx';
import { sendProblem } from '../pages/problem.tsx';
import { ReasonField, showConfirmation, TextField } from './confirm.tsx';
import { beginPlan } from './plans-in-work.ts';

type PolicyHandler = (c: Exchange, context: DashboardContext, policy: Policy) => Response | Promise<Response>;

/** The handler, called only for active policies. */
export const withPolicy =
  (handle: PolicyHandler): Handler =>
  (c, context) => {
    const policy = policyIn(c, context);
    return policy ? handle(c, context, policy) : sendProblem(c, context, 404, NO_POLICY);
  };

export const askToRun = withPolicy((c, context, { name, job, account }) =>
  showConfirmation(c, context, {
    title: `Run ${name} now?`,
    text: (
      <>
        The job <b>{job}</b> works on every target that the policy selects in the account <b>{account}</b>.{' '}
        <a href={policyPath(name, '/plan')}>A plan</a> shows these targets first.
      </>
    ),
    button: `Run ${name}`,
    back: policyPath(name),
  }),
);

/** Fires the policy as `run --detach` does: only while a worker is running. */
export const runNow = withPolicy(async (c, context, policy) => {
  const run = await carryOut(runPolicy, context.control, { policy: policy.name, detach: true }, actorOf(c));
  context.log.info({ policy: policy.name, run: run.id }, 'fired from the dashboard');
  return redirectWith(c, context, runPath(run.id), { text: `${policy.name} was started.` });
});

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

/** What is asked of a pause: `readPause` reads it. */
export const PauseFields = () => (
  <>
    <ReasonField autofocus />
    <TextField name="for" label="Duration, such as 3d or 1h30m (empty: until it is resumed)" maxlength={20} />
  </>
);

/**
 * The reason and the end of a pause, from a form.
 *
 * @throws {InvalidRequestError} for a text that is no duration.
 */
export function readPause(form: Readonly<Record<string, unknown>>): { reason: string; until?: string } {
  const text = (field: string) => {
    const value = form[field];
    return typeof value === 'string' ? value.trim().slice(0, 200) : '';
  };
  const [reason, given] = [text('reason'), text('for')];
  if (given === '') return { reason };
  if (!parseDuration(given))
    throw new InvalidRequestError(
      `“${given}” is not a duration: write 3d, 12h or 1h30m. Nothing was changed.`,
    );
  return { reason, until: given };
}

export const askToPause = withPolicy((c, context, { name }) =>
  showConfirmation(c, context, {
    title: `Pause ${name}?`,
    text: 'It has no scheduled runs until it is resumed, even after a restart. Active runs continue.',
    button: `Pause ${name}`,
    back: policyPath(name),
    fields: <PauseFields />,
  }),
);

export const pause = withPolicy(async (c, context, { name }) => {
  const { control, log } = context;
  const given = readPause(await c.req.parseBody());
  await carryOut(pausePolicy, control, { policy: name, ...given }, actorOf(c));
  log.info({ policy: name }, 'paused from the dashboard');
  const undo = { path: policyPath(name, '/resume'), word: 'Resume it' };
  return redirectBack(c, context, policyPath(name), { text: `${name} is paused.`, link: undo });
});

export const askToResume = withPolicy((c, context, { name, schedule }) =>
  showConfirmation(c, context, {
    title: `Resume ${name}?`,
    text: schedule?.disabled
      ? 'Its pause ends. It still has no scheduled runs: its file disables the schedule (schedule.enabled: false).'
      : 'Its scheduled runs start again. Runs that were due during the pause are not caught up.',
    button: `Resume ${name}`,
    back: policyPath(name),
  }),
);

export const resume = withPolicy(async (c, context, { name }) => {
  const { control, log } = context;
  await carryOut(resumePolicy, control, { policy: name }, actorOf(c));
  log.info({ policy: name }, 'resumed from the dashboard');
  return redirectBack(c, context, policyPath(name), { text: `${name} is resumed.` });
});
