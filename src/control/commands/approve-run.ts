/** Approvals: which runs wait for one, and to approve or reject them. */
import { z } from 'zod';
import { isPermitted } from '../../access/principal.ts';
import { isoTime } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { policyOf } from '../../engine/deps.ts';
import type { Engine } from '../../engine/engine.ts';
import { whyMayNotDecide } from '../../engine/rollout/approval.ts';
import { type Approval, lastApproval } from '../../run/rollout.ts';
import type { Run } from '../../run/run.ts';
import { OneRun, oneRun } from '../answers.ts';
import { type Act, defineCommand } from '../command.ts';
import { reason, runId } from '../fields.ts';
import { runOf, subjectOfRun } from '../runs.ts';

export interface ApproveDeps {
  engine: Pick<Engine, 'approve' | 'reject'>;
}

/** A run that waits for an approval. */
export interface WaitingRun {
  run: Run;
  approval: Approval;
  /** Why the caller may not approve it. */
  whyNot: string | undefined;
}

const time = z.iso.datetime();

export const listApprovals = defineCommand()({
  name: 'approvals.list',
  summary: 'Lists the runs that wait for an approval, those that expire first at the beginning.',
  role: 'viewer',
  reads: true,
  path: '/approvals',
  input: z.strictObject({}),
  subject: () => undefined,
  async carryOut(_input, { records }, { by: { principal } }): Promise<WaitingRun[]> {
    const waiting = await records.runs.list({ status: 'awaiting-approval', limit: 1_000 });
    return waiting
      .filter(({ policy, account }) => isPermitted(principal, 'viewer', { policy, account }))
      .flatMap((run) => {
        const approval = lastApproval(run);
        if (!approval || approval.decided) return [];
        return [{ run, approval, whyNot: whyMayNotDecide(run, policyOf(run), principal, 'approve') }];
      })
      .sort((a, b) => a.approval.expires - b.approval.expires);
  },
  answer: z.object({
    approvals: z.array(
      z.object({
        run: z.string(),
        policy: z.string(),
        account: z.string(),
        since: time,
        expires: time,
        plan: z.string().describe('The hash of the plan, to be sent with the decision.'),
        why: z.string(),
        destructive: z.array(z.string()).describe('The destructive operations that it can call.'),
        batches: z.object({ from: z.int(), to: z.int(), of: z.int() }),
        targets: z.int(),
        requests: z.int().nullable().describe('The estimated cost.'),
        may_not: z.string().nullable().describe('Why the caller may not approve it.'),
      }),
    ),
  }),
  toAnswer: (waiting) => ({ approvals: waiting.map(toApprovalAnswer) }),
});

/** The public form of a run that waits. */
export const toApprovalAnswer = ({ run, approval, whyNot }: WaitingRun) => ({
  run: run.id,
  policy: run.policy,
  account: run.account,
  since: isoTime(approval.since),
  expires: isoTime(approval.expires),
  plan: approval.hash,
  why: approval.why,
  destructive: approval.destructive ?? [],
  batches: { from: approval.from, to: approval.to, of: run.rollout?.batches.length ?? 1 },
  targets: openTargets(run),
  requests: approval.requests ?? null,
  may_not: whyNot ?? null,
});

/** How many targets have not ended. */
export const openTargets = ({ counts }: Pick<Run, 'counts'>): number =>
  counts.planned - counts.succeeded - counts.failed - counts.skipped - counts.cancelled;

const input = z.strictObject({
  run: runId,
  reason,
  plan: z
    .string()
    .optional()
    .describe('The hash of the plan that was shown; a decision about another plan is refused.'),
  targets: z
    .array(z.string().min(1))
    .min(1)
    .max(10_000)
    .optional()
    .describe('Only these targets, by their ids.'),
});

type Input = z.output<typeof input> & { batch?: number | undefined };

const decidingOf = ({ reason: why, plan, batch, targets }: Input, { by, id }: Act) => ({
  by: by.principal,
  act: id,
  ...defined({ reason: why, hash: plan, batch, targets }),
});

/** `batch`: what the number of a batch means. */
const decision = (how: 'approve' | 'reject', { summary, batch }: Record<'summary' | 'batch', string>) =>
  defineCommand<ApproveDeps>()({
    name: `runs.${how}`,
    summary,
    role: 'approver',
    path: `/runs/{run}/${how}`,
    input: input.extend({ batch: z.int().min(1).optional().describe(batch) }),
    subject: subjectOfRun,
    async carryOut(given, deps, act) {
      await deps.engine[how](given.run, decidingOf(given, act));
      return runOf(deps, given.run);
    },
    answer: OneRun,
    toAnswer: oneRun,
  });

export const approveRun = decision('approve', {
  summary:
    'Approves a run that waits for it: whole, up to a batch, or only some targets; the others are not done.',
  batch: 'Only up to this batch.',
});

export const rejectRun = decision('reject', {
  summary:
    'Rejects a run that waits for an approval; or one of its batches or some targets, while the rest waits on.',
  batch: 'Only this batch.',
});
