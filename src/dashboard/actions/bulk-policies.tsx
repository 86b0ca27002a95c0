/** Pause, resume or run several policies. */
import { pausePolicy, resumePolicy } from '../../control/commands/pause-policy.ts';
import { runPolicy } from '../../control/commands/run-policy.ts';
import type { Policy } from '../../policy/policy.ts';
import { pauseAt } from '../../records/policy-store.ts';
import { change } from '../auth/caller.ts';
import { policyPath } from '../components/paths.ts';
import { number } from '../components/progress.tsx';
import { span } from '../components/time.tsx';
import type { DashboardContext } from '../http/context.ts';
import { POLICIES_A_PAGE } from '../queries/policy-list.ts';
import { bulkChange } from './bulk.tsx';
import { reasonAndEnd } from './confirm.tsx';
import { PauseFields } from './policy.tsx';

const counted = (count: number): string => `${number(count)} ${count === 1 ? 'policy' : 'policies'}`;

interface Found {
  policy: Policy;
  isPaused: boolean;
}

const onPolicies = {
  field: 'policy',
  items: 'policies',
  counted,
  limit: POLICIES_A_PAGE,
  list: '/policies',
  pathOf: (name: string) => policyPath(name),
  subject: ({ policy: { name, account } }: Found) => ({ policy: name, account }),
  async find({ policies, reader, clock }: DashboardContext, names: readonly string[]) {
    const found = policies().filter(({ name }) => names.includes(name));
    const states = await reader.policyStates(found);
    const isPaused = (name: string) => pauseAt(states.get(name), clock.now()) !== undefined;
    return new Map(found.map((policy) => [policy.name, { policy, isPaused: isPaused(policy.name) }]));
  },
} as const;

const UNKNOWN = 'no active policy has this name';

/** By verb. */
export const bulkPolicyChanges = {
  Run: bulkChange<Found>({
    ...onPolicies,
    path: '/bulk/run',
    command: runPolicy,
    verb: 'Run',
    done: 'started',
    after: { path: '/runs?trigger=manual', word: 'Show the others' },
    whyNot: (found) => (found ? undefined : UNKNOWN),
    text: runText,
    act: (c, context) => (policy) => change(c, context, runPolicy, { policy, detach: true }),
  }),
  Pause: bulkChange<Found>({
    ...onPolicies,
    path: '/bulk/pause',
    command: pausePolicy,
    verb: 'Pause',
    done: 'paused',
    after: { path: '/policies?state=paused', word: 'Show the others' },
    whyNot: (found) => (found ? (found.isPaused ? 'it is paused already' : undefined) : UNKNOWN),
    text: () =>
      'A paused policy has no scheduled runs until it is resumed, even after a restart. Active runs continue.',
    fields: <PauseFields />,
    act: (c, context, form) => {
      const pause = reasonAndEnd(form);
      return (policy) => change(c, context, pausePolicy, { policy, ...pause });
    },
  }),
  Resume: bulkChange<Found>({
    ...onPolicies,
    path: '/bulk/resume',
    command: resumePolicy,
    verb: 'Resume',
    done: 'resumed',
    after: { path: '/policies?state=active', word: 'Show the others' },
    whyNot: (found) => (found ? (found.isPaused ? undefined : 'it is not paused') : UNKNOWN),
    text: () => 'Scheduled runs start again. Runs that were due during a pause are not caught up.',
    act: (c, context) => (policy) => change(c, context, resumePolicy, { policy }),
  }),
};

/** What the runs cost by the last ones, and of how many policies that is not known. */
async function runText({ reader }: DashboardContext, found: readonly Found[]): Promise<string> {
  const costs = await Promise.all(found.map(({ policy }) => reader.usualCost(policy)));
  const known = costs.flatMap((cost) => cost ?? []);
  const requests = Math.round(known.reduce((sum, cost) => sum + cost.requests, 0));
  const longest = Math.max(0, ...known.map(({ ms }) => ms));
  const unknown = found.length - known.length;
  const takers = unknown === 0 ? 'this takes' : `${counted(known.length)} ${takes(known.length)}`;
  const price =
    known.length === 0
      ? ''
      : ` By their last runs, ${takers} about ${number(requests)} ${requests === 1 ? 'request' : 'requests'}, and the longest run ${span(longest)}.`;
  const missing = unknown === 0 ? '' : ` What ${counted(unknown)} ${takes(unknown)} is not known yet.`;
  return `A run of each starts now, on every target that the policy selects.${price}${missing} What the runs change cannot be undone here.`;
}

const takes = (count: number): string => (count === 1 ? 'takes' : 'take');
