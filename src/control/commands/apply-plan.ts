import { z } from 'zod';
import { isPermitted, type Principal } from '../../access/principal.ts';
import type { Engine } from '../../engine/engine.ts';
import { AlreadyAppliedError, needApplicable, runIdOf } from '../../engine/plan/apply-plan.ts';
import {
  checkSavedPlan,
  isMadeWith,
  policyIn,
  type SavedPlan,
  SavedPlanError,
} from '../../engine/plan/saved-plan.ts';
import type { Registry } from '../../job/registry.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Run } from '../../run/run.ts';
import { OneRun, oneRun } from '../answers.ts';
import { type ActSubject, defineCommand } from '../command.ts';
import { detach, ignoreFreeze, reason } from '../fields.ts';
import { needWorker, type PolicyDeps, startedBy } from '../policies.ts';

export interface ApplyDeps extends PolicyDeps {
  engine: Pick<Engine, 'apply'>;
  /** The account, as it is set up here. Throws when the settings of this process lack it. */
  needAccount(name: string): { baseUrl: string };
}

const savedPlan = (plan: unknown) => checkSavedPlan(plan, 'The plan');

/**
 * Refuses a definition that is not active here, unless an admin without limits sends it. The hash of a plan is no
 * signature: who may only run a policy could otherwise write a plan that defines it with another job.
 */
function checkDefinition(saved: SavedPlan, { policy }: PolicyDeps, principal: Principal): void {
  if (isPermitted(principal, 'admin')) return;
  const active = policy(saved.policy.name);
  if (!active || !isMadeWith(saved, active))
    throw new SavedPlanError(
      `The policy ${saved.policy.name} is not defined here as in this plan. Plan again, or let an admin without limits apply it.`,
    );
}

/** @throws {SavedPlanError} when the account has another address than when the plan was made. */
function checkAccount({ account: { name, base_url } }: SavedPlan, { needAccount }: ApplyDeps): void {
  const { baseUrl } = needAccount(name);
  if (baseUrl !== base_url)
    throw new SavedPlanError(
      `This plan is for ${base_url}, but the account "${name}" is ${baseUrl} now. Plan again.`,
    );
}

const subjectOf = ({ plan }: { plan: object }): ActSubject => {
  const saved = savedPlan(plan);
  const { name, account } = policyIn(saved, 'The plan');
  return { policy: name, account, targets: saved.targets.length };
};

const planField = z.looseObject({}).describe('The content of the file that "caretaker plan --out" made.');

export interface CheckPlanDeps extends ApplyDeps {
  registry: Pick<Registry, 'get'>;
}

/** How the policy of a plan is defined now. */
export const definitions = ['same', 'changed', 'missing'] as const;
export type Definition = (typeof definitions)[number];

export const definitionOf = ({ policy }: SavedPlan, active: Policy | undefined): Definition => {
  if (!active) return 'missing';
  return active.hash === (policy.definition as { hash?: unknown }).hash ? 'same' : 'changed';
};

export const checkPlan = defineCommand<CheckPlanDeps>()({
  name: 'plans.check',
  summary:
    'Refuses a saved plan that could not be applied now, for the reason that it could not. Changes nothing.',
  role: 'operator',
  reads: true,
  hasBody: true,
  path: '/plans/check',
  input: z.strictObject({ plan: planField }),
  subject: subjectOf,
  async carryOut({ plan }, deps, { by }) {
    const saved = savedPlan(plan);
    checkDefinition(saved, deps, by.principal);
    checkAccount(saved, deps);
    await needApplicable(deps, saved);
    return definitionOf(saved, deps.policy(saved.policy.name));
  },
  answer: z.object({
    policy: z
      .enum(definitions)
      .describe(
        'Whether the policy is defined as in the plan; only an admin without limits may apply another one.',
      ),
  }),
  toAnswer: (policy) => ({ policy }),
});

export const applyPlan = defineCommand<ApplyDeps>()({
  name: 'plans.apply',
  summary: 'Applies a saved plan: does what it has, and nothing else.',
  role: 'operator',
  path: '/plans/apply',
  input: z.strictObject({
    plan: planField,
    ignore_freeze: ignoreFreeze,
    detach,
    reason,
  }),
  subject: subjectOf,
  async carryOut({ plan, ignore_freeze, detach }, deps, { by, decide }) {
    const saved = savedPlan(plan);
    checkDefinition(saved, deps, by.principal);
    checkAccount(saved, deps);
    if (detach) await needWorker(deps);
    // A repetition of the act finds its own run, and is answered as the first time.
    const { before } = await decide('apply', async () => ({
      before: (await deps.records.runs.get(runIdOf(saved))) !== undefined,
    }));
    try {
      return await deps.engine.apply(saved, {
        startedBy: startedBy(by),
        ...(ignore_freeze && { ignoreFreeze: true }),
      });
    } catch (error) {
      if (error instanceof AlreadyAppliedError && !before) return error.run;
      throw error;
    }
  },
  outcome: (run: Run) => ({ run: run.id }),
  answer: OneRun,
  toAnswer: oneRun,
});
