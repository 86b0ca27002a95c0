/** Pause, resume or run several policies: each by the command for one, so each has its line in the audit log. */
import { isPermitted, type Principal } from '../../access/principal.ts';
import { carryOut } from '../../control/carry-out.ts';
import { pausePolicy, resumePolicy } from '../../control/commands/pause-policy.ts';
import { runPolicy } from '../../control/commands/run-policy.ts';
import { CaretakerError } from '../../errors.ts';
import type { Policy } from '../../policy/policy.ts';
import { pauseAt } from '../../records/policy-store.ts';
import { actorOf, principalOf } from '../auth/caller.ts';
import { localPath } from '../auth/origin.ts';
import { showPage } from '../components/layout.tsx';
import { policyPath } from '../components/paths.ts';
import { number } from '../components/progress.tsx';
import { span } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { POLICIES_A_PAGE } from '../queries/policy-list.ts';
import { sendResult } from './bulk-result.tsx';
import { showConfirmation } from './confirm.tsx';
import { PauseFields, readPause } from './policy.tsx';

type Kind = 'pause' | 'resume' | 'run';
export const BULK_POLICY_PATHS: Readonly<Record<Kind, string>> = {
  pause: '/bulk/pause',
  resume: '/bulk/resume',
  run: '/bulk/run',
};

const words = {
  pause: { verb: 'Pause', done: 'paused', after: '/policies?state=paused' },
  resume: { verb: 'Resume', done: 'resumed', after: '/policies?state=active' },
  run: { verb: 'Run', done: 'started', after: '/runs?trigger=manual' },
} as const;

const countOf = (count: number): string => `${number(count)} ${count === 1 ? 'policy' : 'policies'}`;

/** What was selected: the policies that it can be done to, and why not to the others. */
interface Selection {
  policies: Policy[];
  others: { name: string; why: string }[];
}

async function selectionOf(
  { policies, reader, clock }: DashboardContext,
  kind: Kind,
  names: readonly string[],
  principal: Principal | undefined,
): Promise<Selection> {
  const wanted = [...new Set(names)].slice(0, POLICIES_A_PAGE);
  const known = new Map(policies().map((policy) => [policy.name, policy]));
  const states = await reader.policyStates(wanted.flatMap((name) => known.get(name) ?? []));
  const selection: Selection = { policies: [], others: [] };
  for (const name of wanted) {
    const policy = known.get(name);
    const isPaused = pauseAt(states.get(name), clock.now()) !== undefined;
    const why = policy ? whyNot(policy, kind, isPaused, principal) : 'no active policy has this name';
    if (policy && why === undefined) selection.policies.push(policy);
    else selection.others.push({ name, why: why ?? '' });
  }
  return selection;
}

/** Without a principal no one is asked yet: the command refuses what is not permitted, for the audit log too. */
function whyNot(
  { name, account }: Policy,
  kind: Kind,
  isPaused: boolean,
  principal: Principal | undefined,
): string | undefined {
  if (principal && !isPermitted(principal, 'operator', { policy: name, account }))
    return 'you may not do this';
  if (kind === 'pause' && isPaused) return 'it is paused already';
  if (kind === 'resume' && !isPaused) return 'it is not paused';
  return undefined;
}

const Others = ({ others }: Pick<Selection, 'others'>) =>
  others.length === 0 ? null : (
    <ul>
      {others.map(({ name, why }) => (
        <li>
          {name} is skipped: {why}.
        </li>
      ))}
    </ul>
  );

const ask = (kind: Kind) => async (c: Exchange, context: DashboardContext) => {
  const back = localPath(c.req.query('back') ?? '/policies');
  const names = c.req.queries('policy') ?? [];
  if (names.length === 0) return c.redirect(back, 303);
  const { policies, others } = await selectionOf(context, kind, names, principalOf(c));
  const { verb, done } = words[kind];
  if (policies.length === 0) {
    return showPage(
      c,
      context,
      { title: `Nothing to ${kind}` },
      <section class="narrow card" id="question">
        <h1 id="question-title">None of these policies can be {done}</h1>
        <Others others={others} />
        <p class="actions">
          <a class="action" href={back} data-closes>
            Do nothing
          </a>
        </p>
      </section>,
    );
  }
  const title = `${verb} ${countOf(policies.length)}`;
  return showConfirmation(c, context, {
    title: `${title}?`,
    text: kind === 'run' ? await runText(context, policies) : texts[kind],
    button: title,
    back,
    fields: (
      <>
        <Others others={others} />
        {kind === 'pause' && <PauseFields />}
        {policies.map(({ name }) => (
          <input type="hidden" name="policy" value={name} />
        ))}
        <input type="hidden" name="back" value={back} />
      </>
    ),
  });
};

export const askToPauseMany = ask('pause');
export const askToResumeMany = ask('resume');
export const askToRunMany = ask('run');

const texts = {
  pause:
    'A paused policy has no scheduled runs until it is resumed, even after a restart. Active runs continue.',
  resume: 'Scheduled runs start again. Runs that were due during a pause are not caught up.',
} as const;

/** What the runs cost by the last ones, and of how many policies that is not known. */
async function runText({ reader }: DashboardContext, policies: readonly Policy[]): Promise<string> {
  const costs = await Promise.all(policies.map((policy) => reader.usualCost(policy)));
  const known = costs.flatMap((cost) => cost ?? []);
  const requests = Math.round(known.reduce((sum, cost) => sum + cost.requests, 0));
  const longest = Math.max(0, ...known.map(({ ms }) => ms));
  const unknown = policies.length - known.length;
  const price =
    known.length === 0
      ? ''
      : ` By their last runs, ${unknown === 0 ? 'this' : countOf(known.length)} ${unknown === 0 || known.length === 1 ? 'takes' : 'take'} about ${number(requests)} ${requests === 1 ? 'request' : 'requests'}, and the longest run ${span(longest)}.`;
  const missing =
    unknown === 0 ? '' : ` What ${countOf(unknown)} ${unknown === 1 ? 'takes' : 'take'} is not known yet.`;
  return `A run of each starts now, on every target that the policy selects.${price}${missing} What the runs change cannot be undone here.`;
}

const act = (kind: Kind) => async (c: Exchange, context: DashboardContext) => {
  const form = await c.req.parseBody({ all: true });
  const names = [form['policy'] ?? []].flat().filter((name) => typeof name === 'string');
  const back = localPath(typeof form['back'] === 'string' ? form['back'] : '/policies');
  if (names.length === 0) return c.redirect(back, 303);
  const pause = readPause(form);
  const { policies, others } = await selectionOf(context, kind, names, undefined);
  const failures = [...others];
  let count = 0;
  for (const { name } of policies) {
    try {
      const { control } = context;
      if (kind === 'pause') await carryOut(pausePolicy, control, { policy: name, ...pause }, actorOf(c));
      else if (kind === 'resume') await carryOut(resumePolicy, control, { policy: name }, actorOf(c));
      else await carryOut(runPolicy, control, { policy: name, detach: true }, actorOf(c));
      count += 1;
    } catch (error) {
      // The sentence is for people; the other policies do not depend on this one.
      if (!(error instanceof CaretakerError)) throw error;
      failures.push({ name, why: error.message });
    }
  }
  const { done, after } = words[kind];
  context.log.info({ policies: count }, `${done} from the dashboard`);
  return sendResult(c, context, {
    text: `${countOf(count)} ${done}`,
    failures: failures.map(({ name, why }) => ({ name, path: policyPath(name), why })),
    after: { path: after, word: 'Show the others' },
    back,
    here: '/policies',
  });
};

export const pauseMany = act('pause');
export const resumeMany = act('resume');
export const runMany = act('run');
