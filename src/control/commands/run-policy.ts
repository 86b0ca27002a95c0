import { z } from 'zod';
import type { Engine } from '../../engine/engine.ts';
import { ApprovalError } from '../../engine/errors.ts';
import type { Run } from '../../run/run.ts';
import { OneRun, oneRun } from '../answers.ts';
import { defineCommand } from '../command.ts';
import { detach, ignoreFreeze, onlyWithApproval, policyName, reason } from '../fields.ts';
import { needPolicy, needWorker, type PolicyDeps, startedBy } from '../policies.ts';

export interface FireDeps extends PolicyDeps {
  engine: Pick<Engine, 'fire'>;
  /** Throws when the settings of this process lack the account. */
  needAccount(name: string): void;
}

export const runPolicy = defineCommand<FireDeps>()({
  name: 'policies.run',
  summary: 'Starts a run of a policy now.',
  role: 'operator',
  path: '/policies/{policy}/run',
  input: z.strictObject({
    policy: policyName,
    targets: z.array(z.string().min(1)).min(1).max(1000).optional().describe('Only these targets.'),
    ignore_freeze: ignoreFreeze,
    detach,
    only_with_approval: onlyWithApproval,
    reason,
  }),
  subject: ({ policy, targets }, deps) => ({
    policy,
    account: needPolicy(deps, policy).account,
    ...(targets && { targets: targets.length }),
  }),
  async carryOut({ policy: name, targets, ignore_freeze, detach, only_with_approval }, deps, { id, at, by }) {
    const policy = needPolicy(deps, name);
    deps.needAccount(policy.account);
    if (only_with_approval && policy.approval?.when !== 'always')
      throw new ApprovalError(
        `The runs of ${name} do not always wait for an approval (approval: { when: always }), so a person has to start it: caretaker run ${name}.`,
      );
    if (detach) await needWorker(deps);
    return deps.engine.fire(policy, {
      trigger: 'manual',
      scheduledFor: at,
      act: id,
      startedBy: startedBy(by),
      ...(targets && { only: targets }),
      ...(ignore_freeze && { ignoreFreeze: true }),
    });
  },
  outcome: (run: Run) => ({ run: run.id }),
  answer: OneRun,
  toAnswer: oneRun,
});
