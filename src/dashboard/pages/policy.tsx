/** What the pages of one policy have in common: its head, with its state, its next time and its actions, and the tabs. */
import type { Child } from 'hono/jsx';
import { ringNames } from '../../control/commands/rings.ts';
import { labelTexts } from '../../policy/labels.ts';
import type { Policy } from '../../policy/policy.ts';
import { type Pause, pauseAt } from '../../records/policy-store.ts';
import type { Run } from '../../run/run.ts';
import { firingsAhead } from '../../schedule/policy-report.ts';
import { NO_POLICY } from '../auth/guard.tsx';
import { Badge } from '../components/badge.tsx';
import { showPage } from '../components/layout.tsx';
import { policyPath } from '../components/paths.ts';
import { NextFiring, PolicyActions, ScheduleLines } from '../components/policy-schedule.tsx';
import { Fact, number } from '../components/progress.tsx';
import { RunStrip, STRIP_RUNS } from '../components/run-strip.tsx';
import { Time, timeIn } from '../components/time.tsx';
import type { DashboardContext, Exchange, Handler } from '../http/context.ts';
import { sendProblem } from './problem.tsx';

const UPCOMING = 5;

/** The tabs with their addresses below that of the policy. */
const tabs = [
  { word: 'History', path: '' },
  { word: 'Trends', path: '/trends' },
  { word: 'Rings', path: '/rings' },
  { word: 'Plan', path: '/plan' },
  { word: 'Definition', path: '/definition' },
  { word: 'Changes', path: '/changes' },
] as const;
type Tab = (typeof tabs)[number]['word'];

/** The active policy that the address names. */
export const policyIn = (c: Exchange, { policies }: DashboardContext): Policy | undefined =>
  policies().find(({ name }) => name === c.req.param('name'));

/** A tab: `content` is what stands below the tabs. */
export const policyTab =
  (
    tab: Tab,
    content: (c: Exchange, context: DashboardContext, policy: Policy) => Promise<Child> | Child,
  ): Handler =>
  async (c, context) => {
    const policy = policyIn(c, context);
    if (!policy) return sendProblem(c, context, 404, NO_POLICY);
    const { name } = policy;
    const now = context.clock.now();
    const hasRings = ringNames(policy) !== undefined;
    if (tab === 'Rings' && !hasRings) return sendProblem(c, context, 404, 'This policy has no rings.');
    const [states, runs, below] = await Promise.all([
      context.reader.policyStates([policy]),
      context.reader.runs({ policy: name, limit: STRIP_RUNS }),
      content(c, context, policy),
    ]);
    const state = states.get(name);
    const pause = pauseAt(state, now);
    const firings = firingsAhead(policy, state, now, UPCOMING).map(({ at }) => at);
    return showPage(
      c,
      context,
      { title: tab === 'History' ? name : `${name}: ${tab}`, here: '/policies', live: '*' },
      <>
        <Head policy={policy} pause={pause} firings={firings} failures={state?.failures ?? 0} runs={runs} />
        <nav class="tabs" aria-label={`Views of ${name}`}>
          {tabs
            .filter(({ word }) => word !== 'Rings' || hasRings)
            .map(({ word, path }) => (
              <a href={policyPath(name, path)} {...(word === tab ? { 'aria-current': 'page' } : {})}>
                {word}
              </a>
            ))}
        </nav>
        {below}
      </>,
    );
  };

interface HeadProps {
  policy: Policy;
  pause: Pause | undefined;
  /** The next scheduled times. */
  firings: readonly number[];
  /** How many runs failed in a row. */
  failures: number;
  /** The latest, newest first. */
  runs: readonly Run[];
}

const Head = ({ policy, pause, firings, failures, runs }: HeadProps) => (
  <section id="policy" data-live>
    <p class="dim">
      <a href="/policies">Policies</a> / policy
    </p>
    <div class="page-head">
      <h1>
        {policy.name} <Badge word={stateOf(policy, pause)} />
      </h1>
      <PolicyActions policy={policy} paused={pause !== undefined} />
    </div>
    {policy.description && <p>{policy.description}</p>}
    <dl>
      <Fact name="Next run">
        <NextFiring policy={policy} pause={pause} nextAt={firings[0]} />
        <Upcoming policy={policy} firings={firings} />
      </Fact>
      <Fact name="Schedule">
        <ScheduleLines policy={policy} />
      </Fact>
      <Fact name="Job">{policy.job}</Fact>
      <Fact name="Account">{policy.account}</Fact>
      {policy.labels !== undefined && (
        <Fact name="Labels">
          {labelTexts(policy.labels).map((text) => (
            <>
              <a href={`/policies?${new URLSearchParams({ label: text })}`}>{text}</a>{' '}
            </>
          ))}
        </Fact>
      )}
      {policy.owner !== undefined && <Fact name="Owner">{policy.owner}</Fact>}
      <Fact name={`Last ${STRIP_RUNS} runs`}>
        <RunStrip runs={runs} />
        {failures > 0 && (
          <p class="failed">{failures === 1 ? 'The last failed' : `${number(failures)} failed in a row`}</p>
        )}
      </Fact>
    </dl>
  </section>
);

const stateOf = ({ schedule }: Policy, pause: Pause | undefined): string => {
  if (pause) return 'paused';
  if (schedule?.disabled) return 'disabled';
  return schedule ? 'active' : 'manual';
};

const Upcoming = ({ policy: { schedule }, firings }: { policy: Policy; firings: readonly number[] }) =>
  schedule && firings.length > 1 ? (
    <details>
      <summary>The next {firings.length} runs</summary>
      <ul>
        {firings.map((at) => (
          <li>
            <Time at={at} /> <span class="dim">{timeIn(at, schedule.timezone)}</span>
          </li>
        ))}
      </ul>
    </details>
  ) : null;
