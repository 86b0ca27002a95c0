/** Changes to a policy: run it now, pause it, resume it. They do what the commands do. */
import type { Policy } from '../../policy/policy.ts';
import { parseDuration } from '../../yaml/duration.ts';
import { policyPath, runPath } from '../components/components.tsx';
import type { DashboardContext, Exchange, Handler } from '../http/context.ts';
import { policyIn } from '../pages/policy.tsx';
import { sendProblem } from '../pages/problem.tsx';
import { showConfirmation } from './confirm.tsx';

type PolicyHandler = (c: Exchange, context: DashboardContext, policy: Policy) => Response | Promise<Response>;

/** The handler, called only for active policies. */
const withPolicy =
  (handle: PolicyHandler): Handler =>
  (c, context) => {
    const policy = policyIn(c, context);
    return policy
      ? handle(c, context, policy)
      : sendProblem(c, context, 404, 'No active policy has this name.');
  };

export const askToRun = withPolicy((c, context, { name, job, account }) =>
  showConfirmation(c, context, {
    title: `Run ${name} now?`,
    text: (
      <>
        The job <b>{job}</b> works on every target that the policy selects in the account <b>{account}</b>.{' '}
        <code>caretaker plan {name}</code> shows these targets first.
      </>
    ),
    button: 'Run it now',
    back: policyPath(name),
  }),
);

/** Fires the policy as `run --detach` does: only while a worker is running. */
export const runNow = withPolicy(async (c, context, policy) => {
  const { reader, clock, engine, log } = context;
  context.needAccount(policy.account);
  const processes = await reader.presence(clock.now());
  if (!processes.some(({ roles }) => roles.includes('worker'))) {
    return sendProblem(
      c,
      context,
      409,
      'No daemon with the worker role is running on this Redis: start one (caretaker daemon).',
    );
  }
  const run = await engine.fire(policy, { trigger: 'manual', scheduledFor: clock.now() });
  log.info({ policy: policy.name, run: run.id }, 'fired from the dashboard');
  return c.redirect(runPath(run.id), 303);
});

export const askToPause = withPolicy((c, context, { name }) =>
  showConfirmation(c, context, {
    title: `Pause ${name}?`,
    text: 'It has no scheduled runs until it is resumed, even after a restart. Active runs continue.',
    button: 'Pause it',
    back: policyPath(name),
    fields: (
      <>
        <label>
          Reason (shown to everybody)
          <input name="reason" maxlength={200} autocomplete="off" autofocus />
        </label>
        <label>
          Duration, such as 3d or 1h30m (empty: until it is resumed)
          <input name="for" maxlength={20} autocomplete="off" />
        </label>
      </>
    ),
  }),
);

export const pause = withPolicy(async (c, context, { name }) => {
  const { pausing, clock, log } = context;
  const form = await c.req.parseBody();
  const text = (field: string) => (typeof form[field] === 'string' ? form[field].trim().slice(0, 200) : '');
  const ms = text('for') === '' ? undefined : parseDuration(text('for'));
  if (ms === 0 || (text('for') !== '' && ms === undefined)) {
    return sendProblem(
      c,
      context,
      400,
      `“${text('for')}” is not a duration: write 3d, 12h or 1h30m. Nothing was changed.`,
    );
  }
  await pausing.pause(name, {
    ...(text('reason') === '' ? {} : { reason: text('reason') }),
    ...(ms === undefined ? {} : { until: clock.now() + ms }),
  });
  log.info({ policy: name }, 'paused from the dashboard');
  return c.redirect(policyPath(name), 303);
});

export const askToResume = withPolicy((c, context, { name, schedule }) =>
  showConfirmation(c, context, {
    title: `Resume ${name}?`,
    text: schedule?.disabled
      ? 'Its pause ends. It still has no scheduled runs: its file disables the schedule (schedule.enabled: false).'
      : 'Its scheduled runs start again. Runs that were due during the pause are not caught up.',
    button: 'Resume it',
    back: policyPath(name),
  }),
);

export const resume = withPolicy(async (c, { pausing, log }, { name }) => {
  await pausing.resume(name);
  log.info({ policy: name }, 'resumed from the dashboard');
  return c.redirect(policyPath(name), 303);
});
