import type { Policy } from '../../policy/policy.ts';
import { type PolicyReport, toPolicyReport } from '../../schedule/policy-report.ts';
import { NO_POLICY } from '../auth/guard.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { sendJson } from './json.ts';
import { refuse } from './problem-document.ts';

/** The active policies: the objects of `policies --json`. */
export async function sendPolicies(c: Exchange, context: DashboardContext): Promise<Response> {
  return sendJson(c, { policies: await reportsOf(context, context.policies()) });
}

/** One active policy. */
export async function sendPolicy(c: Exchange, context: DashboardContext): Promise<Response> {
  const found = context.policies().filter(({ name }) => name === c.req.param('name'));
  const [report] = await reportsOf(context, found);
  return report ? sendJson(c, report) : refuse(c, 404, 'NOT_FOUND', NO_POLICY);
}

async function reportsOf(
  { reader, clock }: DashboardContext,
  policies: readonly Policy[],
): Promise<PolicyReport[]> {
  const now = clock.now();
  const [states, lastRuns, processes] = await Promise.all([
    reader.policyStates(policies),
    Promise.all(policies.map(({ name }) => reader.runs({ policy: name, limit: 1 }))),
    reader.presence(now),
  ]);
  const kept = processes.flatMap(({ keeps = [] }) => keeps);
  return policies.map((policy, index) =>
    toPolicyReport(
      policy,
      states.get(policy.name) ?? { failures: 0 },
      lastRuns[index]?.[0],
      now,
      kept.find(({ name }) => name === policy.name),
    ),
  );
}
