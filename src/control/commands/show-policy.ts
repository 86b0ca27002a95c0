import { z } from 'zod';
import type { Registry } from '../../job/registry.ts';
import { defineCommand } from '../command.ts';
import { policyName } from '../fields.ts';
import { type AllPolicies, needPolicy, type PolicyDeps, seenPolicies } from '../policies.ts';
import { type PolicyDefinition, readStoredPolicy, toPolicyDefinition } from '../policy-definition.ts';

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
