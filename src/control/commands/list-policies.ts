import { z } from 'zod';
import type { Principal } from '../../access/principal.ts';
import { hasLabels, isLabelText } from '../../policy/labels.ts';
import type { Policy } from '../../policy/policy.ts';
import { type PolicyReport, toPolicyReport } from '../../schedule/policy-report.ts';
import { type BaseDeps, defineCommand } from '../command.ts';
import { policyName, someOf } from '../fields.ts';
import { type AllPolicies, needPolicy, type PolicyDeps, seenPolicies } from '../policies.ts';
import { runsSeenBy } from './list-runs.ts';

const PolicyAnswer = z
  .looseObject({ name: z.string(), description: z.string().nullable(), job: z.string(), account: z.string() })
  .meta({ id: 'Policy', description: 'The object of `caretaker policies --json`.' });

const label = someOf(
  z.string().max(200).refine(isLabelText, { error: 'must be the name of a label, or name=value' }),
).describe('Only policies with this label (`team=shop`, or `team` for any value); with all of several.');

async function reportsOf(
  policies: readonly Policy[],
  { records, clock }: BaseDeps,
  principal: Principal,
): Promise<PolicyReport[]> {
  const now = clock.now();
  const seen = runsSeenBy(principal, records);
  const [states, lastRuns, processes] = await Promise.all([
    policies.length === 0 ? undefined : records.policies.many(policies),
    Promise.all(policies.map(({ name }) => seen.runs({ policy: name, limit: 1 }))),
    records.presence.running(now),
  ]);
  const kept = processes.flatMap(({ keeps = [] }) => keeps);
  return policies.map((policy, index) =>
    toPolicyReport(
      policy,
      states?.get(policy.name) ?? { failures: 0 },
      lastRuns[index]?.[0],
      now,
      kept.find(({ name }) => name === policy.name),
    ),
  );
}

export const listPolicies = defineCommand<AllPolicies>()({
  name: 'policies.list',
  summary: 'Lists the active policies with their next and last runs.',
  role: 'viewer',
  reads: true,
  path: '/policies',
  input: z.strictObject({ label }),
  subject: () => undefined,
  carryOut: ({ label: wanted }, deps, { by: { principal } }) => {
    const seen = seenPolicies(deps, principal);
    return reportsOf(
      seen.filter(({ labels }) => hasLabels(labels, [wanted ?? []].flat())),
      deps,
      principal,
    );
  },
  answer: z.object({ policies: z.array(PolicyAnswer) }),
  toAnswer: (policies): { policies: PolicyReport[] } => ({ policies }),
});

export const showPolicyReport = defineCommand<PolicyDeps>()({
  name: 'policies.show',
  summary: 'Shows an active policy with its next and last run.',
  role: 'viewer',
  reads: true,
  path: '/policies/{policy}',
  input: z.strictObject({ policy: policyName }),
  subject: ({ policy }, deps) => ({ policy, account: needPolicy(deps, policy).account }),
  carryOut: ({ policy }, deps, { by: { principal } }) =>
    reportsOf([needPolicy(deps, policy)], deps, principal),
  answer: PolicyAnswer,
  toAnswer: ([report]) => report as PolicyReport,
});
