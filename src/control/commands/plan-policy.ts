import { z } from 'zod';
import type { Engine } from '../../engine/engine.ts';
import { toPlanReport } from '../../engine/plan/plan-report.ts';
import { EXPIRES, expiryOf } from '../../engine/plan/saved-plan.ts';
import { defineCommand } from '../command.ts';
import { policyName } from '../fields.ts';
import { needPolicy, type PolicyDeps } from '../policies.ts';

export interface PlanPolicyDeps extends PolicyDeps {
  engine: Pick<Engine, 'preview'>;
  needAccount(name: string): void;
}

const one = z.string().min(1);

/** It needs an operator, because it spends requests of the account. */
export const planPolicy = defineCommand<PlanPolicyDeps>()({
  name: 'policies.plan',
  summary: 'Shows what a run of a policy would do. Costs the requests of planning, and changes nothing.',
  role: 'operator',
  reads: true,
  path: '/policies/{policy}/plan',
  input: z.strictObject({
    policy: policyName,
    target: z
      .union([one, z.array(one).max(1000)])
      .optional()
      .describe('Only these targets; repeatable.'),
  }),
  subject: ({ policy }, deps) => ({ policy, account: needPolicy(deps, policy).account }),
  carryOut({ policy: name, target }, deps) {
    const policy = needPolicy(deps, name);
    deps.needAccount(policy.account);
    return deps.engine.preview(policy, target === undefined ? undefined : [target].flat());
  },
  answer: z.looseObject({
    policy: z.string(),
    job: z.string(),
    targets: z.array(z.looseObject({ id: z.string(), label: z.string() })),
    settled: z.array(z.looseObject({ id: z.string(), label: z.string() })),
    excluded: z.array(z.object({ id: z.string(), label: z.string(), why: z.string() })),
    batches: z
      .array(
        z.object({
          takes: z.string(),
          targets: z.int(),
          first: z.array(z.object({ id: z.string(), label: z.string() })),
        }),
      )
      .nullable()
      .describe('The batches of its rollout; null without one, and without targets.'),
    approval: z
      .object({
        why: z.string(),
        destructive: z.array(z.string()).describe('The destructive operations that it can call.'),
        by: z.array(z.string()).describe('The roles and names of users that may decide.'),
        expires_seconds: z.number(),
        separate: z.boolean().describe('The user who started the run may not approve it.'),
        each_batch: z.boolean(),
      })
      .nullable()
      .describe('The approval that a run would wait for; null when it needs none.'),
    warnings: z.array(z.string()),
    cost: z.looseObject({
      planning: z.int(),
      acting: z.number(),
      following: z.number(),
      checks: z.number().describe('Those of `following` that gates and another look at the next batch cost.'),
    }),
  }),
  toAnswer: toPlanReport,
});

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
