import { z } from 'zod';
import type { Principal } from '../../access/principal.ts';
import type { Registry } from '../../job/registry.ts';
import { hasLabels, isLabelText } from '../../policy/labels.ts';
import type { Policy } from '../../policy/policy.ts';
import { type PolicyReport, toPolicyReport } from '../../schedule/policy-report.ts';
import { formatNoSpan, spansOf } from '../../schedule/wall-time.ts';
import { type Explanation, explain } from '../../schedule/why.ts';
import { type BaseDeps, defineCommand } from '../command.ts';
import { InvalidRequestError } from '../errors.ts';
import { policyName, someOf } from '../fields.ts';
import {
  type AllPolicies,
  needPolicy,
  type PolicyDeps,
  Schedulers,
  schedulersIn,
  seenPolicies,
} from '../policies.ts';
import { type PolicyDefinition, readStoredPolicy, toPolicyDefinition } from '../policy-definition.ts';
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
): Promise<{ policies: PolicyReport[]; schedulers: number }> {
  const now = clock.now();
  const seen = runsSeenBy(principal, records);
  const [states, lastRuns, processes] = await Promise.all([
    policies.length === 0 ? undefined : records.policies.many(policies),
    Promise.all(policies.map(({ name }) => seen.runs({ policy: name, limit: 1 }))),
    records.presence.running(now),
  ]);
  const kept = processes.flatMap(({ keeps = [] }) => keeps);
  const reports = policies.map((policy, index) =>
    toPolicyReport(
      policy,
      states?.get(policy.name) ?? { failures: 0 },
      lastRuns[index]?.[0],
      now,
      kept.find(({ name }) => name === policy.name),
    ),
  );
  return { policies: reports, schedulers: schedulersIn(processes) };
}

export const listPolicies = defineCommand<AllPolicies>()({
  name: 'policies.list',
  summary: 'Lists the active policies with their next and last runs.',
  role: 'viewer',
  reads: true,
  path: '/policies',
  input: z.strictObject({ label }),
  subject: () => undefined,
  carryOut({ label: wanted }, deps, { by: { principal } }) {
    const labels = [wanted ?? []].flat();
    const seen = seenPolicies(deps, principal).filter((policy) => hasLabels(policy.labels, labels));
    return reportsOf(seen, deps, principal);
  },
  answer: z.object({ policies: z.array(PolicyAnswer), schedulers: Schedulers }),
  toAnswer: (found): { policies: PolicyReport[]; schedulers: number } => found,
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
  toAnswer: ({ policies: [report] }) => report as PolicyReport,
});

export const explainPolicy = defineCommand<PolicyDeps>()({
  name: 'policies.why',
  summary: 'Explains what happened or will happen at the scheduled times of a policy, on a day or at a time.',
  role: 'viewer',
  reads: true,
  path: '/policies/{policy}/why',
  input: z.strictObject({
    policy: policyName,
    when: z
      .string()
      .min(1)
      .describe("A day or a time in the policy's time zone: 2026-11-21, 2026-11-21T02:00, yesterday."),
  }),
  subject: ({ policy }, deps) => ({ policy, account: needPolicy(deps, policy).account }),
  carryOut({ policy: name, when }, deps): Promise<Explanation> {
    const policy = needPolicy(deps, name);
    const now = deps.clock.now();
    const spans = spansOf(when, policy.schedule?.timezone ?? 'UTC', now);
    if (!spans) throw new InvalidRequestError(formatNoSpan(when));
    return explain(deps.records, policy, spans, now);
  },
  answer: z.looseObject({
    policy: z.string(),
    timezone: z.string().nullable(),
    scheduled_times: z.array(z.looseObject({ scheduled_for: z.iso.datetime(), is: z.string() })),
    around: z.array(z.looseObject({})).describe('When nothing is scheduled: the times before and after.'),
    sentences: z.array(z.string()).describe('The same in words.'),
  }),
  toAnswer: (explanation) => explanation,
});

export interface ShowPolicyDeps extends PolicyDeps, AllPolicies {
  registry: Registry;
}

export const showPolicy = defineCommand<ShowPolicyDeps>()({
  name: 'policies.definition',
  summary: 'Shows a policy as it would be written with every default, with its last and next runs.',
  role: 'viewer',
  reads: true,
  path: '/policies/{policy}/definition',
  input: z.strictObject({ policy: policyName }),
  subject: ({ policy }, deps) => ({ policy, account: needPolicy(deps, policy).account }),
  async carryOut({ policy: name }, deps, { by: { principal } }) {
    const { records, clock, registry } = deps;
    const policy = needPolicy(deps, name);
    const now = clock.now();
    const [stored, processes] = await Promise.all([
      readStoredPolicy(records, policy, now),
      records.presence.running(now),
    ]);
    const kept = processes.flatMap(({ keeps = [] }) => keeps).find((one) => one.name === name);
    const policies = seenPolicies(deps, principal);
    return toPolicyDefinition(policy, { ...stored, kept }, { registry, policies });
  },
  answer: z.looseObject({
    policy: z.looseObject({ name: z.string() }).describe('An entry of "policies" in a policy file.'),
    file: z.string(),
    next: z.array(z.iso.datetime()),
    followed_by: z.array(z.string()),
    last_runs: z.array(z.object({ run: z.string(), status: z.string(), created_at: z.iso.datetime() })),
  }),
  toAnswer: (definition): PolicyDefinition => definition,
});
