import { z } from 'zod';
import type { Engine } from '../../engine/engine.ts';
import { toPlanReport } from '../../engine/plan/plan-report.ts';
import { EXPIRES, expiryOf } from '../../engine/plan/saved-plan.ts';
import { defineCommand } from '../command.ts';
import { policyName } from '../fields.ts';
import { needPolicy, type PolicyDeps } from '../policies.ts';
import { planPolicy } from './plan-policy.ts';

export interface SavePlanDeps extends PolicyDeps {
  engine: Pick<Engine, 'planToSave'>;
  /** The account, as it is set up here. Throws when the settings of this process lack it. */
  needAccount(name: string): { baseUrl: string };
  /** The version of Caretaker. */
  version: string;
}

/** It needs an operator, because it spends requests of the account. */
export const savePlan = defineCommand<SavePlanDeps>()({
  name: 'plans.make',
  summary:
    'Plans a policy so that exactly that can be applied later. Costs the requests of planning, and changes nothing.',
  role: 'operator',
  reads: true,
  path: '/policies/{policy}/saved-plan',
  input: planPolicy.input.extend({
    policy: policyName,
    expires: z
      .string()
      .default(EXPIRES)
      .refine((text) => expiryOf(text) !== undefined, {
        error: 'must be a duration from 1s to 30d, such as 3d',
      })
      .describe('How long the plan can be applied: a duration from 1s to 30d.'),
  }),
  subject: ({ policy }, deps) => ({ policy, account: needPolicy(deps, policy).account }),
  carryOut({ policy: name, target, expires }, deps) {
    const policy = needPolicy(deps, name);
    const { baseUrl } = deps.needAccount(policy.account);
    return deps.engine.planToSave(policy, {
      only: target === undefined ? undefined : [target].flat(),
      expiresMs: expiryOf(expires) ?? 0,
      baseUrl,
      version: deps.version,
    });
  },
  answer: z.object({
    saved: z.looseObject({}).describe('The content of the file; "plans.apply" takes it.'),
    plan: planPolicy.answer,
  }),
  toAnswer: ({ saved, preview }) => ({ saved, plan: toPlanReport(preview) }),
});
